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
    std::int64_t row_weights = 0; ///< of a block of 4-bit files; 0: rows may have any length
    double other_rows = 1;        ///< times as many bits where rows are no multiple of it
    double share = 0;             ///< of memory, for what `of` says; 0: it is not told so
    enum class Of : std::uint8_t {
        all,               ///< all memory, for weights, activations and cache
        weights_and_cache, ///< all memory, for weights and cache
        left               ///< what weights and activations leave, for the cache
    } of = Of::left;
    /// States of recurrent layers that it holds for a request, beside its prefix cache's, and the part of the
    /// room that all states have; 0: one each, where there is room.
    double states_per_request = 0, states_share = 0;
    bool every_logit = false; ///< it reserves memory for the logits of every token of a piece of a prompt
};

/// That of the machine's stack, as `file` has it, with the share that was asked for (0: none was). Throws
/// like with_server_defaults.
ServerMemory server_memory(const Machine& machine, double asked, const std::filesystem::path& file);

} // namespace archsim
