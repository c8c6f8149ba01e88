#include "archsim/run/compare_models.hpp"

#include "archsim/run/parts.hpp"

#include <algorithm>
#include <functional>

namespace archsim {

namespace {

/// A model ready for any device.
struct Subject {
    std::shared_ptr<const ModelFacts> facts;
    std::function<Result(const std::string& hardware, const RunOptions& options)> run;
};

Subject make_subject(const Session& session, const std::string& name, const CompareModelsRequest& request,
                     const Bindings& bindings, const std::optional<GenerationRequest>& generation) {
    const CatalogueEntry* entry = session.catalogue().find(name);
    if (generation) {
        const auto model = std::make_shared<const GenerationModel>(session, name, bindings);
        const std::int64_t prompt = generation->prompt_tokens + model->inserted_tokens();
        return {model->bound(generation->batch, prompt, 0)->facts(),
                [&session, model, generation](const std::string& hardware, const RunOptions& options) {
                    return run_generation(session, *model, hardware, options, *generation);
                }};
    }
    if (entry && !entry->parts.empty()) {
        const auto model =
            std::make_shared<const MultiPartModel>(session, *entry, request.batch_size, bindings);
        return {model->facts(), [&session, model](const std::string& hardware, const RunOptions& options) {
                    return model->run(session, hardware, options);
                }};
    }
    const auto model = session.bind(session.load(name), request.batch_size, bindings);
    return {model->facts(), [&session, model](const std::string& hardware, const RunOptions& options) {
                return session.run(model, hardware, options);
            }};
}

} // namespace

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
    std::vector<std::string> runtimes = request.runtimes;
    if (runtimes.empty())
        runtimes.emplace_back();
    for (const std::string& name : request.models) {
        const Subject subject = make_subject(session, name, request, bindings, generation);
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
