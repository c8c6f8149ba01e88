#include "answers/batch/analyze_batch.hpp"

#include "session/every_mode.hpp"
#include "session/usual_question.hpp"

#include <algorithm>

namespace archsim {

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
