#include "archsim/serving/serving_result.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace archsim {

namespace {

constexpr double kMillion = 1e6, kSecondsPerHour = 3600;
constexpr std::int64_t kMostChips = 4096;

std::int64_t* part_of(Parallelism& p, std::string_view key) {
    return key == "tp"   ? &p.tensor
           : key == "pp" ? &p.pipeline
           : key == "dp" ? &p.data
           : key == "ep" ? &p.experts
                         : nullptr;
}

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

Parallelism parse_parallelism(std::string_view text) {
    Parallelism p;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view item = text.substr(0, comma);
        const std::size_t equals = item.find('=');
        std::int64_t* part = equals == std::string_view::npos ? nullptr : part_of(p, item.substr(0, equals));
        std::int64_t value = 0;
        const std::string_view number = part ? item.substr(equals + 1) : std::string_view();
        const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (!part || problem != std::errc() || end != number.data() + number.size() || value < 1 ||
            value > kMostChips)
            throw UsageError(
                fmt::format("--parallel: \"{}\" is none of tp=N, pp=N, dp=N, ep=N with N from 1 to {}", item,
                            kMostChips));
        *part = value;
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    if (p.experts > 1 && p.experts % p.tensor != 0)
        throw UsageError(fmt::format("--parallel: ep={} is no multiple of tp={}: every group of chips that "
                                     "share a layer holds whole experts",
                                     p.experts, p.tensor));
    return p;
}

std::string to_string(const Parallelism& p) {
    std::string text;
    for (const auto& [key, value] : {std::pair("tp", p.tensor), std::pair("pp", p.pipeline),
                                     std::pair("dp", p.data), std::pair("ep", p.experts)})
        if (value > 1)
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
    return text.empty() ? "1 chip" : text;
}

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
        on[i] = r.ok && std::none_of(results.begin(), results.end(), [&](const ServingResult& other) {
                    return other.ok && other.tokens_per_chip() >= r.tokens_per_chip() &&
                           other.tokens_per_user() >= r.tokens_per_user() &&
                           (other.tokens_per_chip() > r.tokens_per_chip() ||
                            other.tokens_per_user() > r.tokens_per_user());
                });
    }
    return on;
}

} // namespace archsim
