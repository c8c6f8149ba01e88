#pragma once
// Whether a network fits: the device's memory with everything, the on-chip memory that software manages with
// its activations; and where it does not, what would.

#include "archsim/compare/result.hpp"
#include "estimate/memory_pools.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// A way to run the same network that fits.
struct FitOption {
    PrecisionConfig precision;
    double batch = 1;
    double bytes = 0; ///< needed then
};

/// Whether a network fits, and what would.
struct MemoryFit {
    double peak_bytes = 0;        ///< weights, arena, KV cache and workspace
    double workspace_bytes = 0;   ///< largest scratch memory of any kernel; 0 where nothing was mapped
    double capacity_bytes = 0;    ///< of one chip's memory; 0 = unknown
    double on_chip_bytes = 0;     ///< memory whose contents software decides; 0 = caches, or unknown
    double weight_room_bytes = 0; ///< on-chip memory of its own for weights; 0 = none
    double alive_bytes = 0; ///< largest set of activations alive at once: of a piece where the batch is cut
    double weight_bytes = 0;
    double traffic_bytes = 0; ///< to and from memory outside of the chip, per inference; 0 = no estimate
    MemoryPools pools;        ///< what holds it, or does not
    double pieces = 1;        ///< parts of the batch that run one after another
    std::vector<FitOption> device_options;  ///< where it does not fit the device: batch first, then precision
    std::vector<FitOption> on_chip_options; ///< where the activations of the whole batch do not stay

    /// True when the device's memory holds everything.
    bool in_device() const { return pools.fits(); }
    bool activations_on_chip() const { return on_chip_bytes > 0 && alive_bytes <= on_chip_bytes; }
    bool weights_on_chip() const { return weight_room_bytes > 0 && weight_bytes <= weight_room_bytes; }
    /// True when nothing leaves the chip.
    bool all_on_chip() const {
        return activations_on_chip() && (weights_on_chip() || alive_bytes + weight_bytes <= on_chip_bytes);
    }
};

/// Absent where the result has no counts of its own (several parts, generated text, an unknown device).
/// Options keep the fused graph: weights and activations are planned anew at every narrower format that the
/// device runs as asked; activations and caches grow with the batch, the workspace is taken as it is. Worked:
/// 26 MB of weights and 2 MB of activations per image in 64 MB: batch 19.
std::optional<MemoryFit> memory_fit(const Result& result);

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

/// "1.5 GB" of 1.5e9 bytes.
inline std::string gigabytes_text(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

} // namespace archsim
