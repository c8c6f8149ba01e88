#pragma once
// How a published measurement of a server was taken: what its client sends, and how the server was started.

#include "archsim/serving/simulation.hpp"
#include "fit/errors/validation.hpp"

#include <string>

namespace archsim {

/// A benchmark's client and server as their scripts state them.
struct ServedProtocol {
    std::string name;
    std::int64_t prompt_tokens = 1, output_tokens = 1;
    double shortest = 1;               ///< lengths are uniform between this part of the stated ones and those
    std::int64_t warm_up = 0;          ///< requests per request in flight that are not counted
    std::int64_t counted = 10;         ///< and those that are
    std::int64_t distinct_prompts = 0; ///< of the client: RequestPlan::distinct_prompts
    std::int64_t step_tokens = 8192;   ///< of the server; 0: its stack's
    bool chunked = true;               ///< of the server: EngineLimits::chunked
    bool whole_graph = false;          ///< of the server: EngineLimits::whole_graph
    double wait_tokens = 0;            ///< of the server: EngineLimits::wait_tokens
    std::int64_t wait_steps = 0;       ///< of the server: EngineLimits::wait_steps
};

/// The protocol of a row: that of its client, where it names one; that of the benchmark whose lengths it has,
/// else the closed loop of genai-perf for TensorRT-LLM and that of aiperf for other servers.
ServedProtocol protocol_of(const MeasuredRow& row);

} // namespace archsim
