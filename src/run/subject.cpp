#include "run/subject.hpp"

#include "archsim/run/parts.hpp"

namespace archsim {

namespace {

Subject of_graph(const Session& session, const Model& imported, std::int64_t batch,
                 const Bindings& bindings) {
    const auto model = session.bind(imported, batch, bindings);
    return {model->facts(),
            [&session, model](const std::string& hardware, const RunOptions& options) {
                return session.run(model, hardware, options);
            },
            [model](const std::string& hardware, std::shared_ptr<const Machine> machine,
                    const RunOptions& options) {
                return Session::run_on(model, hardware, std::move(machine), options);
            }};
}

} // namespace

Subject make_subject(const Session& session, const std::string& name, std::int64_t batch,
                     const Bindings& bindings, const std::optional<GenerationRequest>& generation) {
    const CatalogueEntry* entry = session.catalogue().find(name);
    if (generation) {
        const auto model = std::make_shared<const GenerationModel>(session, name, bindings);
        const std::int64_t prompt = generation->prompt_tokens + model->inserted_tokens();
        return {model->bound(generation->batch, prompt, 0)->facts(),
                [&session, model, generation](const std::string& hardware, const RunOptions& options) {
                    return run_generation(session, *model, hardware, options, *generation);
                },
                {}};
    }
    if (entry && !entry->parts.empty()) {
        const auto model = std::make_shared<const MultiPartModel>(session, *entry, batch, bindings);
        return {model->facts(),
                [&session, model](const std::string& hardware, const RunOptions& options) {
                    return model->run(session, hardware, options);
                },
                {}};
    }
    return of_graph(session, session.load(name), batch, bindings);
}

const Subject& SubjectAtBatches::at(std::int64_t batch) {
    if (const auto found = known_.find(batch); found != known_.end())
        return found->second;
    const CatalogueEntry* entry = session_.catalogue().find(name_);
    if (entry && !entry->parts.empty())
        return known_.emplace(batch, make_subject(session_, name_, batch, bindings_)).first->second;
    if (!model_)
        model_ = session_.load(name_);
    return known_.emplace(batch, of_graph(session_, *model_, batch, bindings_)).first->second;
}

} // namespace archsim
