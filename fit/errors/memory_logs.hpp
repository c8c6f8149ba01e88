#pragma once
// Memory that engines of language models say they take, beside what is estimated for the same model.

#include "archsim/run/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

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

    /// Of a number: ours over the logged one, less 1. Worked: 14.5 GB where 14.0 GB were logged: 0.036.
    std::optional<double> error() const {
        return ours && logged > 0 ? std::optional(*ours / logged - 1) : std::nullopt;
    }
};

/// Logged memory of engines, read from a CSV file with the columns engine, model, precision, tensor, device
/// (empty: one that holds the model), context, step_tokens, quantity, value, unit and source, beside what
/// this library says. Throws InputError naming file and line of what is not as it should be.
std::vector<MemoryLogRow> compare_memory_logs(const Session& session, const std::string& file);

} // namespace archsim
