#include "answers/batch/batch_analysis.hpp"

#include "hardware/energy_table.hpp"
#include "result/generation_metrics.hpp"

#include <cmath>

namespace archsim {

std::vector<Result> results_of(const BatchSeries& series) {
    std::vector<Result> results;
    for (const BatchPoint& point : series.points)
        results.push_back(point.result);
    return results;
}

BatchMetrics batch_metrics(const BatchSeries& series) {
    return compares_generation(results_of(series))
               ? BatchMetrics{&metric::total_token_rate, &metric::token_time, &metric::token_energy}
               : BatchMetrics{&metric::throughput, &metric::latency, &metric::energy};
}

BestBatches best_batches(const BatchSeries& series) {
    BestBatches best;
    const BatchMetrics by = batch_metrics(series);
    const auto& points = series.points;
    const auto qualifies = [&](std::size_t i) { return series.decision.qualifies[i]; };
    const auto value = [&](std::size_t i, const Metric& metric) {
        return value_or_nan(points[i].result, metric);
    };
    const auto improve = [&](std::optional<std::size_t>& at, const Metric& metric, std::size_t i) {
        if (std::isnan(value(i, metric)))
            return;
        if (!at || better(metric, value(i, metric), value(*at, metric)))
            at = i;
    };
    for (std::size_t i = 0; i < points.size(); ++i)
        if (qualifies(i)) {
            improve(best.throughput, *by.rate, i);
            improve(best.latency, *by.time, i);
            improve(best.energy, *by.energy, i);
        }
    for (std::size_t i = 0; best.throughput && i < points.size() && !best.knee; ++i)
        if (qualifies(i) && value(i, *by.rate) >= kNearlyBest * value(*best.throughput, *by.rate))
            best.knee = i;
    return best;
}

} // namespace archsim
