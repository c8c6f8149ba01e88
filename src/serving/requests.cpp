#include "archsim/serving/simulation.hpp"

#include "serving/random.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

static std::int64_t draw_length(serving::RandomStream& random, double mean, const RequestPlan& plan) {
    double length = mean;
    if (plan.shape == LengthShape::uniform)
        length = mean * (plan.shortest + (plan.longest - plan.shortest) * random.uniform());
    else if (plan.shape == LengthShape::exponential)
        length = mean * random.exponential();
    return std::max<std::int64_t>(1, std::llround(length));
}

/// The gap before a request, in gaps of the mean rate.
static double draw_gap(serving::RandomStream& random, const RequestPlan& plan) {
    switch (plan.arrivals) {
    case Arrivals::constant:
        return 1;
    case Arrivals::bursty:
        return random.gamma(plan.burstiness) / plan.burstiness;
    case Arrivals::poisson:
        break;
    }
    return random.exponential();
}

/// Lets a prompt begin with a system prompt; `number`: which of the prompts it is.
static void share_beginning(ServedRequest& r, std::int64_t number, const RequestPlan& plan) {
    const std::int64_t shared = std::min(plan.system_tokens, r.prompt_tokens);
    r.blocks = {number % plan.system_prompts};
    r.first_block_tokens = shared;
    r.block_tokens = std::max<std::int64_t>(1, r.prompt_tokens - shared);
    if (shared < r.prompt_tokens)
        r.blocks.push_back(plan.system_prompts + number);
}

/// The first `count` requests of a trace; a rate stretches or shrinks the time between them.
static std::vector<ServedRequest> recorded_requests(const Trace& trace, std::int64_t count,
                                                    double rate_per_s) {
    const std::size_t number =
        std::min(trace.requests.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
    const double lasts = number > 1 ? trace.requests[number - 1].arrival_s : 0;
    const double factor =
        rate_per_s > 0 && lasts > 0 ? static_cast<double>(number - 1) / rate_per_s / lasts : 1;
    std::vector<ServedRequest> requests(number);
    for (std::size_t i = 0; i < number; ++i) {
        const TraceRequest& r = trace.requests[i];
        requests[i].arrival_s = factor * r.arrival_s;
        requests[i].prompt_tokens = r.prompt_tokens;
        requests[i].output_tokens = r.output_tokens;
        requests[i].blocks = r.blocks;
        requests[i].block_tokens = trace.block_tokens;
    }
    return requests;
}

std::vector<ServedRequest> make_requests(const RequestPlan& plan) {
    if (plan.trace != nullptr)
        return recorded_requests(*plan.trace, plan.count, plan.rate_per_s);
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
        if (plan.system_prompts > 0 && plan.system_tokens > 0)
            share_beginning(r, r.prompt >= 0 ? r.prompt : static_cast<std::int64_t>(i), plan);
        if (plan.rate_per_s > 0)
            r.arrival_s = now += draw_gap(gaps, plan) / plan.rate_per_s;
    }
    return requests;
}

} // namespace archsim
