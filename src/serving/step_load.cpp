#include "archsim/serving/simulation.hpp"

namespace archsim {

StepLoad StepLoad::of(std::span<const StepRequest> requests, std::int64_t verified) {
    StepLoad load;
    load.verified = verified;
    std::int64_t contexts = 0;
    double keys = 0, squares = 0;
    for (const StepRequest& r : requests) {
        if (r.new_tokens <= verified && r.cached > 0) {
            ++load.sequences;
            contexts += r.cached;
            load.contexts.add(r.cached);
            continue;
        }
        const auto tokens = static_cast<double>(r.new_tokens);
        ++load.prompts;
        load.prompt_tokens += r.new_tokens;
        keys += tokens * (static_cast<double>(r.cached) + (tokens + 1) / 2);
        squares += tokens * tokens;
    }
    if (load.sequences > 0)
        load.context = static_cast<double>(contexts) / static_cast<double>(load.sequences);
    if (load.prompt_tokens > 0) {
        load.prompt_keys = keys / static_cast<double>(load.prompt_tokens);
        load.prompt_length = squares / static_cast<double>(load.prompt_tokens);
    }
    return load;
}

void StepLoad::go_on(std::int64_t steps) {
    std::int64_t all = 0;
    for (std::size_t span = 0; span < ContextCounts::kSpans; ++span)
        all += contexts.positions[span] += steps * contexts.sequences[span];
    context = static_cast<double>(all) / static_cast<double>(sequences);
}

} // namespace archsim
