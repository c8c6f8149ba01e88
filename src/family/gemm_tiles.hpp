#pragma once
// Tile, split-K and wave count of a matrix product on a machine of many identical multiprocessors.

#include <cstdint>
#include <limits>
#include <vector>

namespace archsim {

/// `groups` independent products of an M x K and a K x N matrix.
struct GemmShape {
    double groups = 1, m = 1, n = 1, k = 1;
    bool operator==(const GemmShape&) const = default;
};

/// The side of the machine that decides which tile is fastest. Cycles are of the multiplying engine's clock.
struct GemmEngine {
    double units = 1;              ///< multiprocessors
    double ops_per_cycle = 1;      ///< of one multiprocessor, 1 multiply-accumulate = 2 operations
    double operand_bytes = 2;      ///< per element as multiplied
    double output_bytes = 2;       ///< per element of the result
    double efficiency = 1;         ///< share of the rate that the inner loop reaches
    double l2_bytes_per_cycle = 0; ///< from L2 to all multiprocessors; 0 = never limits
    double paired_units = 1;       ///< multiprocessors that load the N-side operand together, each a part
    double operand_reuse = 1;      ///< reuse of the M-side operand relative to a plain matrix product
    double wave_rounding = 1; ///< share of the last wave's idle time that is lost: 1 = lock step, 0 = none
    bool overlapped = false;  ///< other streams fill idle multiprocessors: blocks / units counts
    double split_cycles = -1; ///< cost of combining the parts of one split reduction; below 0: never split
    double smallest_n = 0;    ///< tiles narrower than this are not offered
    double smallest_m = 32;   ///< nor lower ones
    /// How multiplying and loading overlap, as in the time that is estimated (Machine::combine_exponent).
    double combine_exponent = std::numeric_limits<double>::infinity();
    bool operator==(const GemmEngine&) const = default;
};

/// The fastest candidate.
struct TileChoice {
    std::uint16_t tile_m = 0, tile_n = 0, tile_k = 0, split = 1;
    double cycles = 0;       ///< at full rate, with padding and the last wave, efficiency not applied
    double extra_cycles = 0; ///< of combining split reductions
    double l2_bytes = 0;     ///< operands into the multiprocessors, result and partial results out
    double waves = 0;        ///< thread blocks / multiprocessors
    double units_used = 0;   ///< multiprocessors with work
    double padded_macs = 0;
};

/// Duration of `blocks` equal blocks on `units` multiprocessors in block times, at least one unless
/// overlapped.
double wave_count(double blocks, double units, double rounding, bool overlapped);

/// Tries the tile shapes of the common libraries and, on a starved machine, split reductions.
TileChoice choose_tile(const GemmShape& shape, const GemmEngine& engine);

/// The choices of one network: a product occurs in several equivalence classes (with and without a residual
/// behind it), and is looked at once.
class TileChoices {
  public:
    /// As choose_tile().
    TileChoice of(const GemmShape& shape, const GemmEngine& engine);

  private:
    struct Known {
        GemmShape shape;
        GemmEngine engine;
        TileChoice choice;
    };
    std::vector<Known> known_;
};

} // namespace archsim
