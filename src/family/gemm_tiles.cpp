#include "family/gemm_tiles.hpp"

#include "map/overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace archsim {

struct Tile {
    double m, n;
};

// Thread-block tiles that cuBLAS, cuDNN and CUTLASS ship (names of the kernels in the NeuSight traces).
constexpr std::array kTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{128, 64}, Tile{64, 128},
                               Tile{64, 64}, Tile{64, 32}, Tile{32, 64}, Tile{128, 32}, Tile{32, 128},
                               // For few rows of packed weights (Marlin), where they are asked for.
                               Tile{16, 128}, Tile{16, 64}};
constexpr std::array kSplits = {1.0, 2.0, 4.0, 8.0, 16.0};

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

static double rounded_waves(double waves, double rounding, bool overlapped) {
    if (overlapped)
        return waves;
    const double rounded = waves + rounding * (std::ceil(waves) - waves);
    return rounded > 1 ? rounded : 1; // a maximum without a branch, which std::max of references is not
}

double wave_count(double blocks, double units, double rounding, bool overlapped) {
    return rounded_waves(blocks / units, rounding, overlapped);
}

TileChoice choose_tile(const GemmShape& shape, const GemmEngine& engine) {
    const double step = kStepBytes / engine.operand_bytes;
    const double steps = std::ceil(shape.k / step);
    const double inverse_rate = 2 / engine.ops_per_cycle;
    const double inverse_efficiency = 1 / engine.efficiency;
    const double inverse_l2 = engine.l2_bytes_per_cycle > 0 ? 1 / engine.l2_bytes_per_cycle : 0;
    const double result_elements = shape.groups * shape.m * shape.n;
    const double result_bytes = result_elements * engine.output_bytes;
    const double rows_per_load = 1 / engine.operand_reuse, alone = 1 / engine.paired_units;

    Candidate best;
    double least = std::numeric_limits<double>::infinity();
    for (const Tile& tile : kTiles) {
        if (tile.n < engine.smallest_n || tile.m < engine.smallest_m)
            continue;
        const double above = std::ceil(shape.m / tile.m), across = std::ceil(shape.n / tile.n);
        const double blocks = shape.groups * above * across;
        // Blocks above each other need the same columns.
        const double columns = tile.n * (above < engine.paired_units ? 1 / above : alone);
        const double operands =
            blocks * (tile.m * rows_per_load + columns) * steps * step * engine.operand_bytes;
        const double waves = blocks / engine.units;
        for (const double split : kSplits) {
            if (split > 1 && (engine.split_cycles < 0 || blocks * split >= 2 * engine.units ||
                              steps < split * kLeastSteps))
                break;
            Candidate c{tile, blocks, split, std::ceil(steps / split)};
            const double rounded = rounded_waves(waves * split, engine.wave_rounding, engine.overlapped);
            c.cycles = rounded * tile.m * tile.n * c.part_steps * step * inverse_rate;
            c.extra = split > 1 ? engine.split_cycles : 0;
            // Partial results are single precision: written by every part, read once by the combining block.
            const double partials = split > 1 ? result_elements * split * 2 * 4.0 : 0;
            c.l2_bytes = operands + result_bytes + partials;
            const double multiply = c.cycles * inverse_efficiency, load = c.l2_bytes * inverse_l2;
            if (std::max(multiply, load) + c.extra >= least)
                continue; // overlapping only adds
            const double time = combine(multiply, load, 0, engine.combine_exponent) + c.extra;
            if (time < least) {
                best = c;
                least = time;
            }
        }
    }
    TileChoice choice;
    if (std::isinf(least)) // none has a finite time
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

TileChoice TileChoices::of(const GemmShape& shape, const GemmEngine& engine) {
    constexpr std::size_t kMost = 64; // looking through more takes as long as choosing
    for (const Known& known : known_) // most differ in columns or reduction
        if (known.shape.n == shape.n && known.shape.k == shape.k && known.shape == shape &&
            known.engine == engine)
            return known.choice;
    const TileChoice choice = choose_tile(shape, engine);
    if (known_.empty())
        known_.reserve(kMost / 2);
    if (known_.size() < kMost)
        known_.push_back({shape, engine, choice});
    return choice;
}

} // namespace archsim
