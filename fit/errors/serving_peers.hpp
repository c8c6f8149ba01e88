#pragma once
// Measured servers beside what several simulators say of them: this library's estimate, and predictions that
// others published for the same runs.

#include "archsim/run/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What one simulator says of a measured value, in the unit of the measurement; absent: nothing.
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

} // namespace archsim
