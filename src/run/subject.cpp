#include "run/subject.hpp"

#include "archsim/run/parts.hpp"

namespace archsim {

Subject make_subject(const Session& session, const std::string& name, std::int64_t batch,
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
        const auto model = std::make_shared<const MultiPartModel>(session, *entry, batch, bindings);
        return {model->facts(), [&session, model](const std::string& hardware, const RunOptions& options) {
                    return model->run(session, hardware, options);
                }};
    }
    const auto model = session.bind(session.load(name), batch, bindings);
    return {model->facts(), [&session, model](const std::string& hardware, const RunOptions& options) {
                return session.run(model, hardware, options);
            }};
}

} // namespace archsim
