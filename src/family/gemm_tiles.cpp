#include "family/gemm_tiles.hpp"

#include "map/overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace archsim {

namespace {

struct Tile {
    double m, n;
};

// Thread-block tiles that cuBLAS, cuDNN and CUTLASS ship (names of the kernels in the NeuSight traces).
constexpr std::array kTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{128, 64}, Tile{64, 128},
                               Tile{64, 64},   Tile{64, 32},   Tile{32, 64},   Tile{128, 32}, Tile{32, 128}};
constexpr std::array kSplits = {2.0, 4.0, 8.0, 16.0};

// One step of the reduction loop moves 64 bytes of each row of the tile (CUTLASS default tile K of 32 half
// words).
constexpr double kStepBytes = 64;
// A part of a split reduction keeps at least this many steps; below, the prologue outweighs the loop.
constexpr double kLeastSteps = 4;

/// A tile, how many of them there are, and in how many parts each reduction runs.
struct Candidate {
    Tile tile{};
    double blocks = 0, split = 1, part_steps = 0;
    double cycles = 0, extra = 0, l2_bytes = 0;
};

} // namespace

double wave_count(double blocks, double units, double rounding, bool overlapped) {
    const double waves = blocks / units;
    if (overlapped)
        return waves;
    return std::max(1.0, waves + rounding * (std::ceil(waves) - waves));
}

TileChoice choose_tile(const GemmShape& shape, const GemmEngine& engine) {
    const double step = kStepBytes / engine.operand_bytes;
    const double steps = std::ceil(shape.k / step);
    const double inverse_rate = 2 / engine.ops_per_cycle;
    const double inverse_efficiency = 1 / engine.efficiency;
    const double inverse_l2 = engine.l2_bytes_per_cycle > 0 ? 1 / engine.l2_bytes_per_cycle : 0;
    const double result_elements = shape.groups * shape.m * shape.n;
    const double result_bytes = result_elements * engine.output_bytes;
    Candidate best;
    double least = std::numeric_limits<double>::infinity(); ///< time of the best, for comparison only

    const auto consider = [&](const Tile& tile, double blocks, double split, double part_steps,
                              double operands) {
        const double rounded =
            wave_count(blocks * split, engine.units, engine.wave_rounding, engine.overlapped);
        const double cycles = rounded * tile.m * tile.n * part_steps * step * inverse_rate;
        // Partial results are single precision: written by every part, read once by the combining block.
        const double partials = split > 1 ? result_elements * split * 2 * 4.0 : 0;
        const double l2_bytes = operands + result_bytes + partials;
        const double extra = split > 1 ? engine.split_cycles : 0;
        const double multiply = cycles * inverse_efficiency, load = l2_bytes * inverse_l2;
        if (std::max(multiply, load) + extra >= least)
            return; // overlapping only adds
        const double time = combine(multiply, load, 0, engine.combine_exponent) + extra;
        if (time < least) {
            least = time;
            best = {tile, blocks, split, part_steps, cycles, extra, l2_bytes};
        }
    };

    for (const Tile& tile : kTiles) {
        if (tile.n < engine.smallest_n)
            continue;
        const double above = std::ceil(shape.m / tile.m);
        const double blocks = shape.groups * above * std::ceil(shape.n / tile.n);
        // Blocks above each other need the same columns.
        const double columns = tile.n / std::min(engine.paired_units, above);
        const double operands =
            blocks * (tile.m / engine.operand_reuse + columns) * steps * step * engine.operand_bytes;
        consider(tile, blocks, 1, steps, operands);
        if (engine.split_cycles < 0)
            continue;
        for (double split : kSplits) {
            if (blocks * split >= 2 * engine.units || steps < split * kLeastSteps)
                break;
            consider(tile, blocks, split, std::ceil(steps / split), operands);
        }
    }
    TileChoice choice;
    if (std::isinf(least)) // no candidate has a finite time
        return choice;
    choice.tile_m = static_cast<std::uint16_t>(best.tile.m);
    choice.tile_n = static_cast<std::uint16_t>(best.tile.n);
    choice.tile_k = static_cast<std::uint16_t>(step);
    choice.split = static_cast<std::uint16_t>(best.split);
    choice.cycles = best.cycles;
    choice.extra_cycles = best.extra;
    choice.l2_bytes = best.l2_bytes;
    choice.waves = best.blocks * best.split / engine.units;
    choice.units_used = std::min(engine.units, best.blocks * best.split);
    choice.padded_macs = best.blocks * best.split * best.tile.m * best.tile.n * best.part_steps * step;
    return choice;
}

} // namespace archsim
