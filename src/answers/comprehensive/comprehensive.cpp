#include "answers/comprehensive/comprehensive.hpp"

namespace archsim {

ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request) {
    ComprehensiveAnalysis analysis;
    Workload workload = request.workload;
    workload.model = session.load(request.model);
    analysis.result = session.estimate(workload, request.hardware.front(), request.conditions);
    analysis.decision = decide(std::span(&analysis.result, 1), request.limits);
    analysis.kinds = breakdown_by_kind(analysis.result);
    if (!request.batches.empty())
        analysis.batches = analyze_batches(session, request);
    return analysis;
}

} // namespace archsim
