#include "archsim/compare/batch_analysis.hpp"

namespace archsim {

std::vector<Result> results_of(const BatchSeries& series) {
    std::vector<Result> results;
    for (const BatchPoint& point : series.points)
        results.push_back(point.result);
    return results;
}

BestBatches best_batches(const BatchSeries& series) {
    BestBatches best;
    const auto& points = series.points;
    const auto estimate = [&](std::size_t i) -> const Estimate& { return points[i].result.estimate; };
    const auto qualifies = [&](std::size_t i) { return series.decision.qualifies[i]; };
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!qualifies(i))
            continue;
        if (!best.throughput || estimate(i).throughput_per_s > estimate(*best.throughput).throughput_per_s)
            best.throughput = i;
        if (!best.latency || estimate(i).latency_s < estimate(*best.latency).latency_s)
            best.latency = i;
        if (!best.energy ||
            estimate(i).energy_per_inference_j < estimate(*best.energy).energy_per_inference_j)
            best.energy = i;
    }
    for (std::size_t i = 0; best.throughput && i < points.size() && !best.knee; ++i)
        if (qualifies(i) &&
            estimate(i).throughput_per_s >= kNearlyBest * estimate(*best.throughput).throughput_per_s)
            best.knee = i;
    return best;
}

} // namespace archsim
