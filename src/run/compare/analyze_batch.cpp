#include "archsim/run/analyze_batch.hpp"

#include "run/session/every_mode.hpp"

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
        sweep.series.push_back({hardware, {}, {}});
    }
    std::size_t done = 0;
    Workload workload = request.workload;
    if (!request.model.empty())
        workload.model = session.load(request.model);
    for (const std::int64_t batch : sweep.batches) {
        workload.batch = batch;
        for (BatchSeries& series : sweep.series) {
            series.points.push_back({batch, session.estimate(workload, series.hardware, request.conditions)});
            if (request.progress)
                request.progress(++done, sweep.batches.size() * sweep.series.size());
        }
    }
    for (BatchSeries& series : sweep.series)
        series.decision = decide(results_of(series), sweep.limits);
    return sweep;
}

} // namespace archsim
