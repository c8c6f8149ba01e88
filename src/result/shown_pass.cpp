#include "result/shown_pass.hpp"

namespace archsim {

ShownPass shown_pass(const Result& result) {
    if (!result.ok())
        return {};
    if (!result.generation)
        return {result.estimate.latency_s, result.estimate.energy.total()};
    const GenerationEstimate& g = *result.generation;
    if (g.steps.empty())
        return {g.time_to_first_token_s, g.energy_first_token_j, true};
    const GenerationStep& step = g.steps[g.steps.size() / 2]; // whose subgraphs the estimate keeps
    return {step.latency_s, step.energy_j, true, step.context, g.generate_tokens - 1};
}

} // namespace archsim
