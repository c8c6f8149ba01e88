#include "archsim/serving/simulation.hpp"

#include "serving/random.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

std::int64_t draw_length(serving::RandomStream& random, double mean, const RequestPlan& plan) {
    double length = mean;
    if (plan.shape == LengthShape::uniform)
        length = mean * (plan.shortest + (plan.longest - plan.shortest) * random.uniform());
    else if (plan.shape == LengthShape::exponential)
        length = mean * random.exponential();
    return std::max<std::int64_t>(1, std::llround(length));
}

} // namespace

std::vector<ServedRequest> make_requests(const RequestPlan& plan) {
    // Lengths and gaps come from streams of their own, so that neither depends on the other's draws.
    serving::RandomStream lengths(plan.seed), gaps(~plan.seed);
    std::vector<ServedRequest> requests(static_cast<std::size_t>(std::max<std::int64_t>(0, plan.count)));
    double now = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        ServedRequest& r = requests[i];
        if (!plan.lengths.empty()) {
            const auto& drawn = plan.lengths[lengths.next() % plan.lengths.size()];
            r.prompt_tokens = std::max<std::int64_t>(1, drawn.first);
            r.output_tokens = std::max<std::int64_t>(1, drawn.second);
        } else {
            r.prompt_tokens = draw_length(lengths, plan.prompt_tokens, plan);
            r.output_tokens = draw_length(lengths, plan.output_tokens, plan);
        }
        if (const auto set = static_cast<std::size_t>(plan.distinct_prompts); set > 0) {
            r.prompt = static_cast<std::int64_t>(i % set);
            r.prompt_tokens = requests[i % set].prompt_tokens;
        }
        if (plan.rate_per_s > 0)
            r.arrival_s = now += gaps.exponential() / plan.rate_per_s;
    }
    return requests;
}

} // namespace archsim
