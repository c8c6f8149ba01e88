#pragma once
// What a model of several parts needs where they take turns in the device's memory.

#include "archsim/compare/result.hpp"

#include <optional>
#include <string>

namespace archsim {

/// One part at a time in the device's memory, the others in the host's (model offloading).
struct PartsInTurn {
    std::string largest;    ///< part that needs most alone
    double peak_bytes = 0;  ///< of that part: weights, activations and workspace
    double moved_bytes = 0; ///< weights that cross the link to the host for each batch: those of all parts
    double moved_s =
        0; ///< their time at the link's rate; 0: the device states none, or shares its host's memory
};

/// The offload of a result with parts; absent where one of them was not planned. Worked: a text encoder
/// of 9.5 GB and a denoiser of 24 GB need 33.5 GB together, in turn 24 GB, and over a link of 28 GB/s 1.2 s
/// more per batch.
std::optional<PartsInTurn> parts_in_turn(const Result& result);

/// "one part at a time takes 24 GB (transformer), with 33.5 GB over the link to the host, 1.2 s more per
/// batch"; empty where there is no such figure.
std::string in_words(const std::optional<PartsInTurn>& parts);

} // namespace archsim
