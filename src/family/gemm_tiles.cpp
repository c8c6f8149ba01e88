#include "family/gemm_tiles.hpp"

#include "map/overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace archsim {

namespace {

/// Sides of tiles are powers of two: products with their reciprocals are exact.
constexpr std::array kSides = {256.0, 128.0, 64.0, 32.0};
constexpr std::array kPerSide = {1 / kSides[0], 1 / kSides[1], 1 / kSides[2], 1 / kSides[3]};
using PerSide = std::array<double, kSides.size()>;

struct Tile {
    std::uint8_t rows, columns; ///< into kSides
    double m = kSides[rows], n = kSides[columns];
};

// Thread-block tiles that cuBLAS, cuDNN and CUTLASS ship (names of the kernels in the NeuSight traces): 256 x
// 128, 128 x 256, 128 x 128, 128 x 64, 64 x 128, 64 x 64, 64 x 32, 32 x 64, 128 x 32, 32 x 128.
constexpr std::array kTiles = {Tile{0, 1}, Tile{1, 0}, Tile{1, 1}, Tile{1, 2}, Tile{2, 1},
                               Tile{2, 2}, Tile{2, 3}, Tile{3, 2}, Tile{1, 3}, Tile{3, 1}};
constexpr std::array kSplits = {2.0, 4.0, 8.0, 16.0};

// One step of the reduction loop moves 64 bytes of each row of the tile (CUTLASS default tile K of 32 half
// words).
constexpr double kStepBytes = 64;
// A part of a split reduction keeps at least this many steps; below, the prologue outweighs the loop.
constexpr double kLeastSteps = 4;

/// Beyond all rounding.
constexpr double kRounding = 1e-9;
constexpr double kClearly = 1 + kRounding;

double fourth(double x) {
    return x * x * x * x;
}

/// A tile, how many of them there are, and in how many parts each reduction runs.
struct Candidate {
    const Tile* tile = nullptr;
    double blocks = 0, split = 1, part_steps = 0;
    double cycles = 0, extra = 0, l2_bytes = 0;
    double multiply = 0, load = 0; ///< times, for comparison only
};

/// The fastest of the candidates that it is shown; of equals the first.
class Fastest {
  public:
    explicit Fastest(double exponent) : exponent_(exponent), quartic_(exponent == 4) {}

    void consider(const Candidate& c) {
        if (quartic_ && c.extra == 0 && best_.extra == 0) {
            // Fourth powers tell which is faster without roots, but for what rounding may turn.
            const double sum = fourth(c.multiply) + fourth(c.load);
            if (sum > kClearly * sum_)
                return;
            if (kClearly * sum < sum_) {
                take(c, sum);
                return;
            }
        }
        const double least = time();
        if (std::max(c.multiply, c.load) + c.extra >= least)
            return; // overlapping only adds
        if (quartic_ && fourth(c.multiply) + fourth(c.load) > kClearly * fourth(least - c.extra))
            return;
        if (time_of(c) < least)
            take(c, fourth(c.multiply) + fourth(c.load));
    }
    /// Smaller for what is faster, but for rounding; 0 where that takes as long as the time itself.
    static double measure(double multiply, double load, double exponent) {
        if (exponent == 4)
            return fourth(multiply) + fourth(load);
        return std::isinf(exponent) ? std::max(multiply, load) : 0;
    }
    /// True where whatever multiplies for so long, and then pays `extra`, is no faster: overlapping only
    /// adds.
    bool beats(double multiply, double extra) {
        if (quartic_ && extra == 0 && best_.extra == 0)
            return fourth(multiply) > kClearly * sum_;
        const double least = multiply + extra;
        return least >= best_.multiply + best_.load + best_.extra || least >= time();
    }
    /// Infinite where no candidate has a finite time.
    double time() {
        if (!time_)
            time_ = time_of(best_);
        return *time_;
    }
    const Candidate& best() const { return best_; }

  private:
    void take(const Candidate& c, double sum) {
        best_ = c;
        sum_ = sum;
        time_.reset();
    }
    double time_of(const Candidate& c) const { return combine(c.multiply, c.load, 0, exponent_) + c.extra; }

    const double exponent_;
    const bool quartic_;
    Candidate best_{.multiply = std::numeric_limits<double>::infinity()};
    double sum_ = std::numeric_limits<double>::infinity();
    std::optional<double> time_ = std::numeric_limits<double>::infinity(); ///< none: not needed yet
};

double rounded_waves(double waves, double rounding, bool overlapped) {
    if (overlapped)
        return waves;
    const double rounded = waves + rounding * (std::ceil(waves) - waves);
    return rounded > 1 ? rounded : 1; // a maximum without a branch, which std::max of references is not
}

} // namespace

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

    const auto candidate = [&](const Tile& tile, double blocks, double split, double waves, double part_steps,
                               double operands) {
        Candidate c{&tile, blocks, split, part_steps};
        const double rounded = rounded_waves(waves, engine.wave_rounding, engine.overlapped);
        c.cycles = rounded * tile.m * tile.n * part_steps * step * inverse_rate;
        c.extra = split > 1 ? engine.split_cycles : 0;
        c.multiply = c.cycles * inverse_efficiency;
        // Partial results are single precision: written by every part, read once by the combining block.
        const double partials = split > 1 ? result_elements * split * 2 * 4.0 : 0;
        c.l2_bytes = operands + result_bytes + partials;
        c.load = c.l2_bytes * inverse_l2;
        return c;
    };

    // Tiles share their sides, and these what follows from them.
    const double rows_per_load = 1 / engine.operand_reuse, alone = 1 / engine.paired_units;
    PerSide above, across, loaded_rows, share_of_columns;
    for (std::size_t side = 0; side < kSides.size(); ++side) {
        above[side] = std::ceil(shape.m * kPerSide[side]);
        across[side] = std::ceil(shape.n * kPerSide[side]);
        loaded_rows[side] = kSides[side] * rows_per_load;
        // Blocks above each other need the same columns.
        share_of_columns[side] = above[side] < engine.paired_units ? 1 / above[side] : alone;
    }
    const auto blocks_of = [&](const Tile& tile) {
        return shape.groups * above[tile.rows] * across[tile.columns];
    };
    const auto operands_of = [&](const Tile& tile, double blocks) {
        const double columns = tile.n * share_of_columns[tile.rows];
        return blocks * (loaded_rows[tile.rows] + columns) * steps * step * engine.operand_bytes;
    };
    const auto whole = [&](const Tile& tile) {
        const double blocks = blocks_of(tile);
        return candidate(tile, blocks, 1, blocks / engine.units, steps, operands_of(tile, blocks));
    };

    // What is clearly slower than another tile is left out. No branch depends on the shape here: one that the
    // processor mispredicts costs more than finishing a tile that is no good. The products are those of
    // candidate() but for rounding.
    std::array<double, kTiles.size()> measures;
    double least = std::numeric_limits<double>::infinity();
    const double per_product = steps * step * inverse_rate * inverse_efficiency;
    const double per_row = steps * step * engine.operand_bytes * inverse_l2,
                 store = result_bytes * inverse_l2;
    for (std::size_t i = 0; i < kTiles.size(); ++i) {
        const Tile& tile = kTiles[i];
        const double blocks = blocks_of(tile);
        const double waves = rounded_waves(blocks / engine.units, engine.wave_rounding, engine.overlapped);
        const double rows = loaded_rows[tile.rows] + tile.n * share_of_columns[tile.rows];
        measures[i] = Fastest::measure(waves * (tile.m * tile.n) * per_product,
                                       blocks * rows * per_row + store, engine.combine_exponent);
        least = tile.n < engine.smallest_n ? least : std::min(least, measures[i]);
    }

    Fastest fastest(engine.combine_exponent);
    const bool splits = engine.split_cycles >= 0 && steps >= kSplits.front() * kLeastSteps;
    // However a reduction is split, every unit multiplies its share without padding at least.
    const double least_multiply =
        (1 - kRounding) * result_elements * shape.k / engine.units * inverse_rate * inverse_efficiency;
    for (std::size_t i = 0; i < kTiles.size(); ++i) {
        const Tile& tile = kTiles[i];
        if (tile.n < engine.smallest_n)
            continue;
        if (!(measures[i] > kClearly * least))
            fastest.consider(whole(tile));
        if (!splits || fastest.beats(least_multiply, engine.split_cycles))
            continue;
        const double blocks = blocks_of(tile);
        if (blocks * kSplits.front() >= 2 * engine.units)
            continue;
        const double waves = blocks / engine.units;
        // The same with the padding of the tile.
        const double padded_multiply =
            (1 - kRounding) * waves * tile.m * tile.n * steps * step * inverse_rate * inverse_efficiency;
        if (fastest.beats(padded_multiply, engine.split_cycles))
            continue;
        const double operands = operands_of(tile, blocks);
        for (double split : kSplits) {
            if (blocks * split >= 2 * engine.units || steps < split * kLeastSteps)
                break;
            fastest.consider(
                candidate(tile, blocks, split, waves * split, std::ceil(steps / split), operands));
        }
    }
    TileChoice choice;
    const Candidate& best = fastest.best();
    if (std::isinf(best.multiply + best.load + best.extra)) // none has a finite time
        return choice;
    choice.tile_m = static_cast<std::uint16_t>(best.tile->m);
    choice.tile_n = static_cast<std::uint16_t>(best.tile->n);
    choice.tile_k = static_cast<std::uint16_t>(step);
    choice.split = static_cast<std::uint16_t>(best.split);
    choice.cycles = best.cycles;
    choice.extra_cycles = best.extra;
    choice.l2_bytes = best.l2_bytes;
    choice.waves = best.blocks * best.split / engine.units;
    choice.units_used = std::min(engine.units, best.blocks * best.split);
    choice.padded_macs = best.blocks * best.split * best.tile->m * best.tile->n * best.part_steps * step;
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
