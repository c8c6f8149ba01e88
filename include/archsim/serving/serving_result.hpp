#pragma once
// The result of a serving run on a device: the answer of serve_model.

#include "archsim/core/export.hpp"
#include "archsim/core/provenance.hpp"
#include "archsim/serving/simulation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// How the devices of a deployment share the model.
struct Parallelism {
    std::int64_t tensor = 1;   ///< devices that share every matrix (Megatron-LM, arXiv:1909.08053)
    std::int64_t pipeline = 1; ///< stages of consecutive layers
    std::int64_t data = 1;     ///< engines beside each other, each with the whole model
    /// Devices of a stage that hold the experts of a mixture, whole ones each; a multiple of `tensor`. Beyond
    /// it, groups of `tensor` devices have requests of their own and exchange tokens (data-parallel
    /// attention, DeepSeek-V3, arXiv:2412.19437, section 3.4). 1: experts are shared like every other matrix.
    std::int64_t experts = 1;
    /// Chips of one stage.
    std::int64_t stage_devices() const { return experts > tensor ? experts : tensor; }
    /// Chips of one engine.
    std::int64_t engine_devices() const { return stage_devices() * pipeline; }
    /// Groups of a stage with requests of their own.
    std::int64_t groups() const { return stage_devices() / tensor; }
    /// Chips of all engines.
    std::int64_t devices() const { return engine_devices() * data; }
    /// Equal when every count is.
    bool operator==(const Parallelism&) const = default;
};
/// Parses "tp=4,pp=2,dp=1,ep=8"; throws UsageError naming what is wrong.
ARCHSIM_API Parallelism parse_parallelism(std::string_view text);
/// "tp=4,pp=2"; "1 device" when nothing is shared.
ARCHSIM_API std::string to_string(const Parallelism& parallelism);

/// Limits on the ninety-ninth percentile, in seconds; 0: none.
struct ServiceLevel {
    double time_to_first_s = 0, time_per_token_s = 0, end_to_end_s = 0;
    /// Whether there is a limit at all.
    bool any() const { return time_to_first_s > 0 || time_per_token_s > 0 || end_to_end_s > 0; }
    /// Whether the ninety-ninth percentiles of a run stay within every limit.
    bool met_by(const ServingSummary& s) const {
        return (time_to_first_s <= 0 || s.time_to_first_s.p99 <= time_to_first_s) &&
               (time_per_token_s <= 0 || s.time_per_token_s.p99 <= time_per_token_s) &&
               (end_to_end_s <= 0 || s.end_to_end_s.p99 <= end_to_end_s);
    }
};

/// Ends of the 90 % intervals of percentiles.
struct PercentileBounds {
    Percentiles low, high;
};
/// Bounds of the waits of clients.
struct WaitBounds {
    PercentileBounds time_to_first_s, time_per_token_s, end_to_end_s;
};

/// One deployment under one load.
struct ServingResult {
    std::string model, hardware, runtime, precision;
    Parallelism parallelism;
    bool ok = false;
    std::string reason;         ///< one sentence when not ok
    Doubt doubt;                ///< why it may not be named first
    std::string steps_refuted;  ///< what measurements say against its single steps
    double rate_per_s = 0;      ///< offered; 0: a fixed concurrency
    std::int64_t in_flight = 0; ///< requests held in flight; 0: a rate
    double capacity_per_s = 0;  ///< requests per second that it stands in the long run
    bool overloaded = false;
    double cache_bytes_per_token = 0, cache_room_bytes = 0; ///< of one engine, all its devices
    /// The bytes of a sequence of the mean length beside that: full windows, and states of fixed size.
    double fixed_cache_bytes_per_sequence = 0;
    /// 90 % interval of the time per token over its estimate, from left-out rows of servers.
    double step_low = 1, step_high = 1;
    /// The same of the time to the first token.
    double prompt_low = 1, prompt_high = 1;
    std::string step_bound;             ///< what most of that step goes to: compute, memory or overhead
    double longest_batch = 0;           ///< sequences of the mean length that the cache holds
    double usd_per_hour = 0;            ///< of all devices; 0: not stated
    double pue = 1, grid_intensity = 0; ///< facility over device power; g CO2e per kWh
    ServingOutcome outcome;
    ServingSummary summary;
    /// The same load with every step at the ends of its interval.
    WaitBounds bounds;
    std::vector<std::string> notes;

    /// Dollars per million tokens of either kind, by the share of time that each takes; absent without a
    /// price.
    std::optional<double> usd_per_million_output() const {
        return usd_per_million(1 - prompt_share(), outcome.output_tokens);
    }
    /// The same of the prompt's tokens.
    std::optional<double> usd_per_million_prompt() const {
        return usd_per_million(prompt_share(), outcome.prompt_tokens);
    }
    /// Joules per thousand tokens, of prompts and answers together, over the whole run.
    double joules_per_thousand_tokens() const {
        const auto tokens = static_cast<double>(outcome.prompt_tokens + outcome.output_tokens);
        constexpr double kThousand = 1e3;
        return tokens > 0 ? kThousand * outcome.joules / tokens : 0;
    }
    /// Grams of CO2e of that electricity, with the facility's share. Worked: 300 J, a facility of 1.58 and
    /// 480 g per kWh are 300 x 1.58 x 480 / 3.6e6 = 0.0632 g.
    double carbon_g_per_thousand_tokens() const {
        constexpr double kKwh = 3.6e6; // joules
        return joules_per_thousand_tokens() * pue * grid_intensity / kKwh;
    }
    /// Output tokens per second of one chip.
    double tokens_per_device() const {
        return summary.output_tokens_per_s / static_cast<double>(parallelism.devices());
    }
    /// Output tokens per second that the median user sees after the first token; 0 with one token.
    double tokens_per_user() const {
        return summary.time_per_token_s.p50 > 0 ? 1 / summary.time_per_token_s.p50 : 0;
    }

  private:
    double prompt_share() const { return outcome.busy_s > 0 ? outcome.prompt_busy_s / outcome.busy_s : 0; }
    std::optional<double> usd_per_million(double share, std::int64_t tokens) const {
        if (usd_per_hour <= 0 || tokens <= 0)
            return std::nullopt;
        constexpr double kMillion = 1e6, kSecondsPerHour = 3600;
        return kMillion * share * usd_per_hour * outcome.duration_s / kSecondsPerHour /
               static_cast<double>(tokens);
    }
};

/// Which of the runs are on the frontier: no other gives both more tokens per chip and more per user.
ARCHSIM_API std::vector<bool> serving_frontier(std::span<const ServingResult> results);

} // namespace archsim
