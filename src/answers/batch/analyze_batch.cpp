#include "answers/batch/analyze_batch.hpp"

#include "result/generation_metrics.hpp"
#include "session/other_conditions.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
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

BatchAnalysis analyze_batches(const Session& session, const BatchRequest& request) {
    BatchAnalysis sweep;
    sweep.batches = request.batches;
    sweep.limits = request.limits;
    std::sort(sweep.batches.begin(), sweep.batches.end());
    sweep.batches.erase(std::unique(sweep.batches.begin(), sweep.batches.end()), sweep.batches.end());
    if (sweep.batches.empty() || sweep.batches.front() < 1)
        throw UsageError("batch sizes: give at least one, each 1 or more");
    for (const std::string& hardware : with_every_mode(session.hardware(), request.hardware)) {
        session.hardware().device(hardware); // unknown names stop here, before any work
        sweep.series.insert(sweep.series.end(), std::max<std::size_t>(1, request.device_counts.size()),
                            {hardware, {}, {}});
    }
    std::size_t done = 0;
    Workload workload = request.workload;
    Conditions conditions = request.conditions;
    if (!request.model.empty())
        workload.model = session.load(request.model);
    workload = usual_question(std::move(workload));
    for (const std::int64_t batch : sweep.batches) {
        workload.batch = batch;
        for (std::size_t i = 0; i < sweep.series.size(); ++i) {
            BatchSeries& series = sweep.series[i];
            if (!request.device_counts.empty())
                conditions.devices = request.device_counts[i % request.device_counts.size()];
            series.points.push_back({batch, session.estimate(workload, series.hardware, conditions)});
            if (request.progress)
                request.progress(++done, sweep.batches.size() * sweep.series.size());
        }
    }
    for (BatchSeries& series : sweep.series)
        series.decision = decide(results_of(series), sweep.limits);
    return sweep;
}

} // namespace archsim
