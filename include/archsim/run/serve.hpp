#pragma once
// A language model served on a device: how long users wait, what it costs, and when it overflows.

#include "archsim/compare/cost.hpp"
#include "archsim/core/export.hpp"
#include "archsim/run/session.hpp"
#include "archsim/serving/serving_result.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// A deployment and its load.
struct ServingRequest {
    RequestPlan load;
    /// `engine.cache_bytes`, `engines` and `idle_watts` are filled in from device and parallelism; groups,
    /// sequences and tokens of a step where they are 0, and the time of a request where it is below 0, from
    /// the stack.
    ServingPlan plan = {.engine = {.groups = 0, .sequences = 0, .step_tokens = 0},
                        .request_s = -1,
                        .prompt_token_s = -1,
                        .answer_token_s = -1};
    std::optional<Parallelism>
        parallelism;                 ///< empty: the fewest devices (a power of two) that hold the model
    std::int64_t prompt_devices = 0; ///< devices for prompts alone, in engines of the same kind; 0: none
    /// How engines for prompts alone share the model, `data` of them, where they are not of the same kind.
    std::optional<Parallelism> prompt_parallelism = {};
    std::string prompt_hardware = {}; ///< the device of those; empty: that of the others
    Bindings sizes = {};              ///< of symbolic dimensions, besides batch and lengths
    bool find_capacity = true;
    /// Facility over device power, and g CO2e per kWh, for the carbon of the run (CostOptions).
    double pue = CostOptions{}.pue, grid_intensity = CostOptions{}.grid_intensity;
};

/// Simulates `request` on a device. Never throws for a device: what fails becomes the result's reason. Throws
/// UsageError for a model without a cache of keys and values.
/// @code
/// const Session session;
/// Conditions conditions;
/// conditions.precision = PrecisionConfig::uniform(Precision::fp16);
/// ServingRequest request;
/// request.load.rate_per_s = 2;
/// request.load.count = 200;
/// const ServingResult result = run_serving(session, session.load("qwen3-8b"), "H100", conditions, request);
/// assert(result.ok && result.summary.time_to_first_s.p50 > 0);
/// @endcode
ARCHSIM_API ServingResult run_serving(const Session& session, const Model& model, std::string_view device,
                                      const Conditions& conditions, const ServingRequest& request);

/// The most requests per second that meet `level`, by bisection to one in fifty; the run at that rate. `ok`
/// is false when no rate meets it.
ARCHSIM_API ServingResult highest_rate(const Session& session, const Model& model, std::string_view device,
                                       const Conditions& conditions, const ServingRequest& request,
                                       const ServiceLevel& level);

/// highest_rate for every device and every way to share the model, in that order.
ARCHSIM_API std::vector<ServingResult>
search_serving(const Session& session, const Model& model, std::span<const std::string> hardware,
               std::span<const Parallelism> ways, const Conditions& conditions, const ServingRequest& request,
               const ServiceLevel& level);

/// Runs with 1, 2, 4, ... requests in flight on every device and every way to share the model (empty: 1, 2, 4
/// and 8 devices that share every matrix), until twice as many bring less than one in fifty more tokens per
/// second; what cannot hold the model is one result that says so.
ARCHSIM_API std::vector<ServingResult>
sweep_serving(const Session& session, const Model& model, std::span<const std::string> hardware,
              std::span<const Parallelism> ways, const Conditions& conditions, const ServingRequest& request);

/// A recorded load, told by its columns: Mooncake's JSON lines (timestamp in ms, input_length, output_length,
/// hash_ids of blocks of 512 tokens), Azure's CSV (TIMESTAMP, ContextTokens, GeneratedTokens) or BurstGPT's
/// (Timestamp in s, Request tokens, Response tokens). Sorted by arrival; requests without an answer are left
/// out. Throws InputError naming the line.
ARCHSIM_API Trace read_trace(const std::string& file);

/// Requests from a CSV file with the columns prompt_tokens and output_tokens. Throws InputError naming the
/// line.
ARCHSIM_API std::vector<std::pair<std::int64_t, std::int64_t>> read_request_lengths(const std::string& file);

} // namespace archsim
