#include "session/server/server.hpp"

#include <algorithm>
#include <array>

namespace archsim {

constexpr std::array kPercentiles = {&Percentiles::p50, &Percentiles::p90, &Percentiles::p99,
                                     &Percentiles::p999, &Percentiles::mean};

static Percentiles times(Percentiles all, double factor) {
    for (const auto one : kPercentiles)
        all.*one *= factor;
    return all;
}

/// The same of what lies behind the first `fixed` seconds.
static Percentiles times_behind(Percentiles all, double factor, double fixed) {
    for (const auto one : kPercentiles)
        all.*one = std::min(fixed, all.*one) + factor * std::max(0.0, all.*one - fixed);
    return all;
}

/// The estimate is part of its own interval: which requests share a step changes with the steps' times.
static PercentileBounds around(const Percentiles& estimate, Percentiles low, Percentiles high) {
    for (const auto one : kPercentiles) {
        low.*one = std::min(low.*one, estimate.*one);
        high.*one = std::max(high.*one, estimate.*one);
    }
    return {low, high};
}

WaitBounds wait_bounds(const ServingPlan& plan, StepPrices& prices, StepPrices* prompt_prices,
                       const RequestPlan& requests, const ServingSummary& estimate, TimeFactors first,
                       TimeFactors later) {
    const bool in_proportion = plan.concurrency > 0;
    const double fixed = plan.before_engine_s(requests.prompt_tokens);
    const auto with = [&](double factor) {
        ServingSummary summary = estimate;
        if (in_proportion) {
            summary.time_to_first_s = times_behind(estimate.time_to_first_s, factor, fixed);
            summary.time_per_token_s = times(estimate.time_per_token_s, factor);
            summary.end_to_end_s = times_behind(estimate.end_to_end_s, factor, fixed);
        } else if (factor != 1) {
            ScaledPrices scaled(prices, factor),
                prompts(prompt_prices != nullptr ? *prompt_prices : prices, factor);
            ServingPlan unseen = plan;
            unseen.on_step = nullptr;
            unseen.goes_on = nullptr;
            summary = summarize(simulate_serving(unseen, scaled, make_requests(requests), &prompts));
        }
        return summary;
    };
    const ServingSummary soon = with(later.low), late = with(later.high);
    return {around(estimate.time_to_first_s, times(soon.time_to_first_s, first.low / later.low),
                   times(late.time_to_first_s, first.high / later.high)),
            around(estimate.time_per_token_s, soon.time_per_token_s, late.time_per_token_s),
            around(estimate.end_to_end_s, soon.end_to_end_s, late.end_to_end_s)};
}

} // namespace archsim
