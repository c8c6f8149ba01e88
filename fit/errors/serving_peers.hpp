#pragma once
// Measured servers beside what several simulators say of them: this library's estimate, and predictions that
// others published for the same runs.

#include "archsim/run/session.hpp"
#include "archsim/serving/serving_result.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/rows/served_row.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// One simulator's prediction of a measured value, in the unit of the measurement; absent: nothing.
struct PeerRow {
    std::string run, model, metric; ///< "2.0", as the file spells the model, "ttft_mean_ms"
    double measured = 0;
    std::vector<std::optional<double>> predicted; ///< by ServingPeers::simulators
};

/// Measured rows and who predicted them.
struct ServingPeers {
    /// First this library as shipped, then with what was fitted to these rows fitted without the row's model,
    /// then those of the files.
    std::vector<std::string> simulators;
    std::vector<PeerRow> rows;
    /// Seconds of a request outside the engine (ServingPlan::request_s): as these rows ask for, and how far
    /// models are from what the others ask for.
    double request_s = 0, request_error_s = 0;
    std::size_t models = 0;
    std::vector<std::string> problems; ///< runs that were not simulated, and why
    double seconds = 0;                ///< of this library, all runs
};

/// Simulates every run of CSV files of measured servers: columns experiment, stage (0 begins with an empty
/// cache, the next ones with the prompts of those before), model, hardware, runtime, precision,
/// tensor_parallel, step_tokens, max_sequences, arrivals, rate_per_s, stage_s (seconds), prompt_tokens,
/// output_tokens, distinct_prompts, metric (`ttft_mean_ms`, `e2e_p99_ms`, `itl_mean_ms`, ...), measured,
/// source, and "by NAME" for what NAME predicts. Throws InputError naming file and line of what is not as it
/// should be.
ServingPeers compare_serving_peers(const Session& session, const std::vector<std::string>& files);

// Layouts of servers that somebody measured beside each other: how long clients waited, what this library
// says of each, and whether it would have chosen the best.

/// One measured run: a layout and a number of requests in flight.
struct LayoutRow {
    std::string model, hardware, runtime, precision;
    std::string version; ///< of the stack, as measured; empty: not said
    Parallelism way;
    std::optional<Parallelism> prompts; ///< of engines that process prompts alone, where there are some
    std::int64_t prompt_tokens = 1, output_tokens = 1, in_flight = 1;
    MeanWaits measured;
    std::optional<MeanWaits> ours; ///< absent: see `problem`
    /// Ends of the 90 % intervals of `ours`.
    MeanWaits low, high;
    bool by_default = false;     ///< ServedProtocol::defaults
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

struct ServingLayouts {
    std::vector<LayoutRow> rows;
    std::vector<LayoutGroup> groups;
};

/// Simulates every row of a CSV file of measured layouts: columns model, hardware, runtime, precision (empty:
/// the model's own), tensor, pipeline, experts (devices that hold whole experts; 1: shared like the rest),
/// prompt_tokens, output_tokens, in_flight, ttft_ms, tpot_ms (means), source and, if it likes, client,
/// engines, and of disaggregated servers prompt_tensor, prompt_pipeline, prompt_experts, prompt_engines. Uses
/// all processors;
/// `progress` is told rows done and rows in all. Throws InputError naming file and line of what is not as it
/// should be.
ServingLayouts compare_serving_layouts(const Session& session, const std::string& file,
                                       const std::function<void(std::size_t, std::size_t)>& progress = {});

/// Errors of the estimated rows, for widths: two of each, of its wait for the first token and for the others.
std::vector<ErrorRow> served_errors(const ServingLayouts& layouts);

/// Whether the file has such rows, by its first line.
bool is_serving_layouts(const std::string& file);

/// One logged number, in bytes on one device.
struct MemoryLogRow {
    std::string engine, model, precision, device;
    std::int64_t tensor = 1;  ///< devices that share every matrix
    std::int64_t context = 0; ///< positions; 0: the quantity does not depend on it
    /// "weights", "cache_per_token", "cache" (of `context` positions), "compute" (llama.cpp's buffer), "room"
    /// (what is left for caches), or "ran_out": a sequence of `context` positions found no room.
    std::string quantity;
    double logged = 0;          ///< of what ran out 0
    std::optional<double> ours; ///< of what ran out the room that is left; absent: no estimate
    std::optional<bool> fits;   ///< of what ran out: whether it fits by the estimate
    std::string problem;        ///< why there is no estimate
    std::string source;

    /// The error of a number: ours over the logged one, less 1. Worked: 14.5 GB where 14.0 GB were logged:
    /// 0.036.
    std::optional<double> error() const {
        return ours && logged > 0 ? std::optional(*ours / logged - 1) : std::nullopt;
    }
};

/// Logged memory of engines, read from a CSV file with the columns engine, model, precision, tensor, device
/// (empty: one that holds the model), context, step_tokens, quantity, value, unit and source, beside what
/// this library says. Throws InputError naming file and line of what is not as it should be.
std::vector<MemoryLogRow> compare_memory_logs(const Session& session, const std::string& file);

} // namespace archsim
