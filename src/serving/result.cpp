#include "archsim/serving/serving_result.hpp"

#include <algorithm>

namespace archsim {

namespace {

constexpr double kMillion = 1e6, kSecondsPerHour = 3600;
std::optional<double> usd_per_million(const ServingResult& r, double share, std::int64_t tokens) {
    if (r.usd_per_hour <= 0 || tokens <= 0)
        return std::nullopt;
    return kMillion * share * r.usd_per_hour * r.outcome.duration_s / kSecondsPerHour /
           static_cast<double>(tokens);
}

double prompt_share(const ServingOutcome& out) {
    return out.busy_s > 0 ? out.prompt_busy_s / out.busy_s : 0;
}

} // namespace

bool ServiceLevel::met_by(const ServingSummary& s) const {
    return (time_to_first_s <= 0 || s.time_to_first_s.p99 <= time_to_first_s) &&
           (time_per_token_s <= 0 || s.time_per_token_s.p99 <= time_per_token_s) &&
           (end_to_end_s <= 0 || s.end_to_end_s.p99 <= end_to_end_s);
}

std::optional<double> ServingResult::usd_per_million_output() const {
    return usd_per_million(*this, 1 - prompt_share(outcome), outcome.output_tokens);
}

std::optional<double> ServingResult::usd_per_million_prompt() const {
    return usd_per_million(*this, prompt_share(outcome), outcome.prompt_tokens);
}

std::vector<bool> serving_frontier(std::span<const ServingResult> results) {
    std::vector<bool> on(results.size(), false);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ServingResult& r = results[i];
        const auto counts = [](const ServingResult& one) { return one.ok && one.doubt.empty(); };
        on[i] = counts(r) && std::none_of(results.begin(), results.end(), [&](const ServingResult& other) {
                    return counts(other) && other.tokens_per_device() >= r.tokens_per_device() &&
                           other.tokens_per_user() >= r.tokens_per_user() &&
                           (other.tokens_per_device() > r.tokens_per_device() ||
                            other.tokens_per_user() > r.tokens_per_user());
                });
    }
    return on;
}

} // namespace archsim
