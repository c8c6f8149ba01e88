#include "archsim/run/compare_models.hpp"

#include "run/subject.hpp"

#include <algorithm>

namespace archsim {

ModelComparison compare_models(const Session& session, CompareModelsRequest request, const Bindings& bindings,
                               const RunOptions& options,
                               const std::optional<GenerationRequest>& generation) {
    ModelComparison comparison;
    if (request.hardware.empty()) {
        if (request.deployment.empty())
            request.deployment = "datacenter";
        const Deployment deployment = session.hardware().deployment(request.deployment);
        request.hardware = deployment.hardware;
        comparison.deployment_title = deployment.title;
    }
    for (const std::string& hardware : request.hardware)
        session.hardware().device(hardware); // unknown names stop here, before any work
    for (const std::string& runtime : request.runtimes)
        session.hardware().runtime(runtime);
    std::vector<std::string> runtimes = request.runtimes;
    if (runtimes.empty())
        runtimes.emplace_back();
    for (const std::string& name : request.models) {
        const Subject subject = make_subject(session, name, request.batch_size, bindings, generation);
        comparison.models.push_back(subject.facts);
        for (const std::string& hardware : request.hardware)
            for (const std::string& runtime : runtimes) {
                RunOptions own = options;
                own.runtime = runtime;
                comparison.results.push_back(subject.run(hardware, own));
            }
    }
    comparison.request = std::move(request);
    return comparison;
}

int exit_code(const ModelComparison& comparison) {
    const bool incomplete =
        std::any_of(comparison.results.begin(), comparison.results.end(),
                    [](const Result& r) { return r.estimate.status == Status::incomplete; });
    return incomplete ? 3 : 0;
}

} // namespace archsim
