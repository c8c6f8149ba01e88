#include "session/usual_question.hpp"

#include "archsim/core/finding.hpp"
#include "session/prepared.hpp"

namespace archsim {

namespace {

bool names_sizes(const Bindings& sizes) {
    return !sizes.dims.empty() || !sizes.input_shapes.empty() || !sizes.input_values.empty() ||
           !sizes.input_real_values.empty() || !sizes.input_sequences.empty();
}

/// Facts of a language model stand at the model, or at the last of its parts.
bool is_language_model(const Model& model) {
    return model.info.language_model || (!model.parts.empty() && is_language_model(model.parts.back()));
}

} // namespace

Workload usual_question(Workload workload) {
    if (workload.prompt || workload.single_pass || names_sizes(workload.sizes) || !workload.model.prepared ||
        !is_language_model(workload.model))
        return workload;
    try {
        workload.model.prepared->language(workload.model, workload.sizes);
        workload.prompt.emplace();
    } catch (const UsageError&) { // no cache of keys and values: it answers no prompts
    }
    return workload;
}

} // namespace archsim
