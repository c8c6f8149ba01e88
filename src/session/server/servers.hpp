#pragma once
// What a stack's server does unless its options say otherwise: hardware_db/servers.json.

#include "archsim/map/machine.hpp"
#include "archsim/serving/simulation.hpp"

#include <filesystem>

namespace archsim {

/// The plan with what it leaves open (ServingRequest::plan) as `file` has it for the machine's stack and
/// memory: a step and a batch of ServingPlan's own, and no time of a request, where it has nothing. Throws
/// InputError for a file that is not as it should be.
ServingPlan with_server_defaults(ServingPlan plan, const Machine& machine, const std::filesystem::path& file);

/// How a server shares a device's memory, and how its files store weights.
struct ServerMemory {
    double share = 0;             ///< of all memory, for weights, activations and cache; 0: it is not told so
    std::int64_t row_weights = 0; ///< of a block of 4-bit files; 0: rows may have any length
    double other_rows = 1;        ///< times as many bits where rows are no multiple of it
    bool every_logit = false;     ///< it reserves memory for the logits of every token of a piece of a prompt
};

/// That of the machine's stack, as `file` has it. Throws like with_server_defaults.
ServerMemory server_memory(const Machine& machine, const std::filesystem::path& file);

} // namespace archsim
