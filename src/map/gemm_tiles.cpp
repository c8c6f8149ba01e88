#include "map/gemm_tiles.hpp"

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

struct Candidate {
    double time = std::numeric_limits<double>::infinity(); ///< cycles, for comparison only
    TileChoice choice;
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

    const auto consider = [&](const Tile& tile, double blocks, double split) {
        const double part_steps = std::ceil(steps / split);
        const double waves = blocks * split / engine.units;
        const double rounded =
            wave_count(blocks * split, engine.units, engine.wave_rounding, engine.overlapped);
        const double cycles = rounded * tile.m * tile.n * part_steps * step * inverse_rate;
        const double operands =
            blocks * (tile.m / engine.operand_reuse + tile.n) * steps * step * engine.operand_bytes;
        // Partial results are single precision: written by every part, read once by the combining block.
        const double partials = split > 1 ? result_elements * split * 2 * 4.0 : 0;
        const double l2_bytes = operands + result_bytes + partials;
        const double extra = split > 1 ? engine.split_cycles : 0;
        const double time = std::max(cycles * inverse_efficiency, l2_bytes * inverse_l2) + extra;
        if (time < best.time) {
            best.time = time;
            TileChoice& c = best.choice;
            c.tile_m = static_cast<std::uint16_t>(tile.m);
            c.tile_n = static_cast<std::uint16_t>(tile.n);
            c.tile_k = static_cast<std::uint16_t>(step);
            c.split = static_cast<std::uint16_t>(split);
            c.cycles = cycles;
            c.extra_cycles = extra;
            c.l2_bytes = l2_bytes;
            c.waves = waves;
            c.units_used = std::min(engine.units, blocks * split);
            c.padded_macs = blocks * split * tile.m * tile.n * part_steps * step;
        }
    };

    for (const Tile& tile : kTiles) {
        if (tile.n < engine.smallest_n)
            continue;
        const double blocks = shape.groups * std::ceil(shape.m / tile.m) * std::ceil(shape.n / tile.n);
        consider(tile, blocks, 1);
        if (engine.split_cycles < 0)
            continue;
        for (double split : kSplits) {
            if (blocks * split >= 2 * engine.units || steps < split * kLeastSteps)
                break;
            consider(tile, blocks, split);
        }
    }
    return best.choice;
}

} // namespace archsim
