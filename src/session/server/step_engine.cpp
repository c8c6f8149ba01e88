#include "archsim/run/step.hpp"

#include "archsim/core/finding.hpp"
#include "session/server/server.hpp"

#include <fmt/format.h>

namespace archsim {

struct StepEngine::State {
    Model model; ///< the engine's prices point into it
    ServingEngine engine;
    std::int64_t verified = 1;
    double low = 1, high = 1;
};

StepEngine::StepEngine(const Session& session, const Model& model, std::string_view device,
                       const Conditions& conditions, const ServingRequest& request)
    : state_(std::make_shared<State>()) {
    const RequestPlan& load = request.load;
    const auto longest = static_cast<std::int64_t>(load.prompt_tokens + load.output_tokens);
    state_->model = model;
    state_->engine = make_engine(session, model, device, conditions, request,
                                 {load.prompt_tokens, load.output_tokens, longest});
    if (state_->engine.prices == nullptr)
        throw InputError(fmt::format("{} on {}: {}", model.name(), device, state_->engine.reason));
    state_->verified = 1 + request.plan.engine.drafted;
    const Spread spread = waiting_spread(state_->engine.prices->machine(), SpreadOf::later_token, false);
    state_->low = spread.low;
    state_->high = spread.high;
}

EngineStep StepEngine::step(std::span<const StepRequest> requests) const {
    // Far beyond every engine; sums of them are exact.
    constexpr std::int64_t kMostPositions = 1 << 24, kMostTokens = 1 << 22;
    constexpr std::size_t kMostSequences = 1 << 16;
    if (requests.empty() || requests.size() > kMostSequences)
        throw UsageError(
            fmt::format("a step has 1 to {} sequences, got {}", kMostSequences, requests.size()));
    std::int64_t tokens = 0;
    for (const StepRequest& r : requests) {
        if (r.new_tokens < 1 || r.new_tokens > kMostTokens || r.cached < 0 || r.cached > kMostPositions)
            throw UsageError(fmt::format("a sequence of a step has 1 to {} new tokens and 0 to {} cached "
                                         "ones, got {} and {}",
                                         kMostTokens, kMostPositions, r.new_tokens, r.cached));
        tokens += r.new_tokens;
    }
    if (tokens > kMostTokens)
        throw UsageError(fmt::format("a step has at most {} tokens, got {}", kMostTokens, tokens));
    const StepCost cost = state_->engine.prices->certain_price(StepLoad::of(requests, state_->verified));
    return {cost.seconds, cost.joules, cost.seconds * state_->low, cost.seconds * state_->high};
}

double StepEngine::cache_room_bytes() const {
    return state_->engine.cache_room_bytes;
}

double StepEngine::cache_bytes(double positions) const {
    return state_->engine.prices->cache_bytes(positions);
}

const Parallelism& StepEngine::parallelism() const {
    return state_->engine.parallelism;
}

} // namespace archsim
