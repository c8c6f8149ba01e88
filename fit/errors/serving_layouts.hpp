#pragma once
// Layouts of servers that somebody measured beside each other: how long clients waited, what this library
// says of each, and whether it would have chosen the best.

#include "archsim/run/session.hpp"
#include "archsim/serving/serving_result.hpp"
#include "fit/errors/error_fit.hpp"
#include "fit/rows/mean_waits.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// One measured run: a layout and a number of requests in flight.
struct LayoutRow {
    std::string model, hardware, runtime, precision;
    Parallelism way;
    std::int64_t prompt_tokens = 1, output_tokens = 1, in_flight = 1;
    MeanWaits measured;
    std::optional<MeanWaits> ours; ///< absent: see `problem`
    /// Ends of the 90 % intervals of `ours`.
    MeanWaits low, high;
    std::string problem;         ///< why there is no estimate
    std::string network, family; ///< what was estimated, as the catalogue and the database say
    std::string source;
    std::string
        client; ///< the benchmark that asked (hardware_db/server_benchmarks.json); empty: told by lengths

    /// Output tokens per second of a device, of requests that wait so long. Worked: 64 in flight, 256 tokens,
    /// 100 ms to the first and 10 ms for each of the others on two devices: 64 x 256 / 2.65 s / 2 = 3091.
    double tokens_per_device(const MeanWaits& waits) const;
};

/// Rows that differ in layout and requests in flight alone, under one limit on the time per token.
struct LayoutGroup {
    std::vector<std::size_t> rows;     ///< in LayoutRows::rows, those that were estimated
    double limit_ms = 0;               ///< on the time per token: a quartile of what was measured
    std::optional<std::size_t> best;   ///< most measured tokens per device within the limit
    std::optional<std::size_t> chosen; ///< most estimated ones within the limit by the estimate
    /// Measured tokens per device of the chosen layout over the best one's, both with as many requests in
    /// flight as the limit lets each of them have by measurement; 0: the chosen layout has no run within it.
    double share = 0;
};

/// What compare_serving_layouts says.
struct ServingLayouts {
    std::vector<LayoutRow> rows;
    std::vector<LayoutGroup> groups;
};

/// Simulates every row of a CSV file of measured layouts: columns model, hardware, runtime, precision (empty:
/// the model's own), tensor, pipeline, experts (devices that hold whole experts; 1: shared like the rest),
/// prompt_tokens, output_tokens, in_flight, ttft_ms, tpot_ms (means), source and, if it likes, client. Uses
/// all processors;
/// `progress` is told rows done and rows in all. Throws InputError naming file and line of what is not as it
/// should be.
ServingLayouts compare_serving_layouts(const Session& session, const std::string& file,
                                       const std::function<void(std::size_t, std::size_t)>& progress = {});

/// Errors of the estimated rows, for widths: two of each, of its wait for the first token and for the others.
std::vector<ErrorRow> served_errors(const ServingLayouts& layouts);

/// Whether the file has such rows, by its first line.
bool is_serving_layouts(const std::string& file);

} // namespace archsim
