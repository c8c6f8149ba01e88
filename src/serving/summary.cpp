#include "archsim/serving/serving_result.hpp"
#include "archsim/serving/simulation.hpp"
#include "serving/serving_engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace archsim {

constexpr double kMedian = 0.5, kNinth = 0.9, kNinetyNine = 0.99, kFarTail = 0.999;

/// The nearest rank, from 1.
static std::size_t rank_of(double part, std::size_t count) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(count)));
    return std::clamp<std::size_t>(rank, 1, count);
}

std::int64_t beyond_p99(std::int64_t count) {
    return count > 0
               ? count - static_cast<std::int64_t>(rank_of(kNinetyNine, static_cast<std::size_t>(count)))
               : 0;
}

Percentiles percentiles_of(std::vector<double> values) {
    Percentiles p;
    if (values.empty())
        return p;
    std::ranges::sort(values);
    const auto at = [&](double part) { return values[rank_of(part, values.size()) - 1]; };
    p.p50 = at(kMedian);
    p.p90 = at(kNinth);
    p.p99 = at(kNinetyNine);
    p.p999 = at(kFarTail);
    p.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    return p;
}

ServingSummary summarize(const ServingOutcome& out) {
    ServingSummary s;
    std::vector<double> first, each, whole;
    const auto warm_up = static_cast<std::size_t>(out.warm_up);
    // While the load is on: a run that holds requests in flight empties behind the last one that it begins. A
    // request counts by the part of its time that lies inside: rate x time = requests in flight, of few, too.
    double begins = std::numeric_limits<double>::infinity(), last = 0;
    for (std::size_t i = 0; i < out.requests.size(); ++i) {
        if (i >= warm_up)
            begins = std::min(begins, out.requests[i].arrival_s);
        last = std::max(last, out.requests[i].arrival_s);
    }
    const double ends = out.closed && last > begins ? last : out.ended_s;
    double served = 0, inside_s = 0, prompts_served = 0, outputs_served = 0, cached = 0;
    for (std::size_t i = 0; i < out.requests.size(); ++i) {
        const ServedRequest& r = out.requests[i];
        if (r.refused || r.end_s < 0)
            continue;
        cached += static_cast<double>(r.cached_tokens);
        const double inside = std::min(r.end_s, ends) - std::max(r.arrival_s, begins);
        if (const double whole_s = r.end_to_end(); inside >= 0 && r.end_s >= begins) {
            const double part = whole_s > 0 ? std::min(1.0, inside / whole_s) : 1;
            served += part;
            inside_s += inside;
            prompts_served += part * static_cast<double>(r.prompt_tokens);
            outputs_served += part * static_cast<double>(r.emitted);
        }
        if (i < warm_up)
            continue;
        first.push_back(r.time_to_first());
        whole.push_back(r.end_to_end());
        if (r.output_tokens > 1)
            each.push_back(r.time_per_token());
    }
    s.counted = static_cast<std::int64_t>(first.size());
    s.warm_up = out.warm_up;
    s.time_to_first_s = percentiles_of(std::move(first));
    s.time_per_token_s = percentiles_of(std::move(each));
    s.end_to_end_s = percentiles_of(std::move(whole));
    if (out.duration_s <= 0)
        return s;
    constexpr double kPerMillion = 1e6;
    const auto prompts = static_cast<double>(out.prompt_tokens),
               outputs = static_cast<double>(out.output_tokens);
    const double lasts = ends > begins ? ends - begins : out.duration_s;
    // With a number held in flight, rate x time = that number, whatever the few requests of a run are.
    const double counted = served / lasts, in_flight = inside_s / lasts;
    s.requests_per_s =
        out.closed && s.end_to_end_s.mean > 0 && counted > 0 ? in_flight / s.end_to_end_s.mean : counted;
    const double scale = counted > 0 ? s.requests_per_s / counted : 1;
    s.output_tokens_per_s = scale * outputs_served / lasts;
    s.prompt_tokens_per_s = scale * prompts_served / lasts;
    s.cached_share = prompts > 0 ? cached / prompts : 0;
    s.utilization = out.busy_s / (out.engines * out.duration_s);
    s.mean_in_system = out.in_system_s / out.duration_s;
    s.mean_waiting = out.waiting_s / out.duration_s;
    s.watts = out.joules / out.duration_s;
    // Idle energy is shared as the time in steps is.
    const double prompt_part = out.busy_s > 0 ? out.prompt_busy_s / out.busy_s : 0;
    if (prompts > 0)
        s.joules_per_million_prompt = kPerMillion * prompt_part * out.joules / prompts;
    if (outputs > 0)
        s.joules_per_million_output = kPerMillion * (1 - prompt_part) * out.joules / outputs;
    return s;
}

std::vector<bool> serving_frontier(std::span<const ServingResult> results) {
    std::vector<bool> on(results.size(), false);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ServingResult& r = results[i];
        const auto counts = [](const ServingResult& one) { return one.ok && one.doubt.empty(); };
        on[i] = counts(r) && std::ranges::none_of(results, [&](const ServingResult& other) {
                    return counts(other) && other.tokens_per_device() >= r.tokens_per_device() &&
                           other.tokens_per_user() >= r.tokens_per_user() &&
                           (other.tokens_per_device() > r.tokens_per_device() ||
                            other.tokens_per_user() > r.tokens_per_user());
                });
    }
    return on;
}

} // namespace archsim
