#pragma once
// Measurements of servers under load: the time to the first token and per output token that clients see.

#include "archsim/compare/measured_row.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/run/session.hpp"
#include "archsim/serving/simulation.hpp"
#include "fit/errors/validation.hpp"
#include "fit/rows/measurements.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace archsim {

/// A benchmark's client and server as their scripts state them.
struct ServedProtocol {
    std::string name;
    std::int64_t prompt_tokens = 1, output_tokens = 1;
    bool defaults = false; ///< the server is at its stack's defaults, but for what says how it is asked
    double shortest = 1, longest = 1;  ///< lengths are uniform between these parts of the stated ones
    std::int64_t warm_up = 0;          ///< requests per request in flight that are not counted
    std::int64_t counted = 10;         ///< and those that are
    std::int64_t distinct_prompts = 0; ///< of the client: RequestPlan::distinct_prompts
    std::int64_t step_tokens = 0;      ///< of the server; 0: its stack's
    bool chunked = true;               ///< of the server: EngineLimits::chunked
    bool whole_graph = false;          ///< of the server: EngineLimits::whole_graph
    std::int64_t captured_tokens = 0;  ///< of the server: EngineLimits::captured_tokens
    bool side_by_side = false;         ///< of the server: ServingPlan::side_by_side
    std::optional<Precision>
        kv_cache;                ///< of the server, where its script has no other; else published_cache()
    double wait_tokens = 0;      ///< of the server: EngineLimits::wait_tokens
    std::int64_t wait_steps = 0; ///< of the server: EngineLimits::wait_steps
    /// A rule of the server: with data-parallel attention, EngineLimits::wait_prompts is the number of its
    /// groups, and prompts wait so many steps; 0: none do.
    std::int64_t balance_steps = 0;
    std::int64_t poll_steps = 1; ///< of the server: EngineLimits::poll_steps
    bool prefix_cache = true;    ///< of the server: EngineLimits::prefix_cache
    /// Seconds that the first prompts, sent at once, wait beyond their turn for kernels that the server
    /// compiles for shapes which no request to warm up had.
    double compile_s = 0;
};

/// The protocol of a row, as `file` (hardware_db/server_benchmarks.json) has it: that of its client, where it
/// names one; else that of the first benchmark whose lengths and stack it has. A client that the file does
/// not know is a benchmark of one's own (vllm bench serve, sglang.bench_serving): prompts of random tokens,
/// none twice, all sent as fast as the limit allows, to a server at its defaults. Throws InputError for a
/// file that is not as it should be.
ServedProtocol protocol_of(const MeasuredRow& row, const std::filesystem::path& file);

/// In milliseconds; 0 where no request is counted.
struct MeanWaits {
    double first_ms = 0; ///< for the first token
    double token_ms = 0; ///< for each later one
};

/// The means of `outcome`, with so many requests in flight, over those after the warm-up. The first that are
/// sent, all at once, also wait for what the server compiles then. Worked: of 80 requests, 8 in flight,
/// compile_s 1.6 adds 160 ms to the mean wait for a first token.
MeanWaits mean_waits(const ServingOutcome& outcome, const ServedProtocol& protocol, std::int64_t in_flight);

/// Whether a row is of that kind: phase `served_first_token` or `served_per_token`. Its batch is the number
/// of requests in flight, a new one when one ends, its devices are those that share every layer.
bool is_served(const MeasuredRow& row);

/// The load and the engine of a benchmark with so many requests in flight; its layout is the caller's to set.
ServingRequest request_of(const ServedProtocol& protocol, std::int64_t clients);

/// Predicts such rows for one estimator. Both waits of one measurement are read from one simulation. Safe to
/// call from several threads.
class ServedRuns {
  public:
    ServedRuns();
    ~ServedRuns();

    /// Mean over the requests that the client counts, in milliseconds, with its interval and regime.
    Prediction predict(const Session& session, const Model& model, const MeasuredRow& row,
                       const Conditions& conditions);

  private:
    struct Run;
    std::mutex mutex_;
    std::map<RowKey, std::shared_ptr<Run>> runs_;
};

} // namespace archsim
