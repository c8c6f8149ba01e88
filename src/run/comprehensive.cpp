#include "archsim/run/comprehensive.hpp"

#include "run/subject.hpp"

namespace archsim {

ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request,
                                            std::int64_t batch, const Bindings& bindings,
                                            const RunOptions& options) {
    const std::string& hardware = request.hardware.front();
    session.hardware().device(hardware); // an unknown name is an input error, not a failed estimate
    ComprehensiveAnalysis analysis;
    analysis.result = make_subject(session, request.model, batch, bindings).run(hardware, options);
    analysis.decision = decide(std::span(&analysis.result, 1), request.limits);
    analysis.kinds = breakdown_by_kind(analysis.result);
    if (!request.batches.empty())
        analysis.batches = analyze_batches(session, request, bindings, options);
    return analysis;
}

} // namespace archsim
