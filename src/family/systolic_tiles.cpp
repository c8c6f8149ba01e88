#include "family/systolic_tiles.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::systolic {

struct SharedTiles {
    double cycles = 0;
    bool hidden_binds = false; ///< what loads takes longer than what streams
};

/// `tiles` tiles of `length` streaming steps (at least `hidden`, what loads behind them) on several arrays:
/// whole tiles are dealt out, or every tile's steps are split.
static SharedTiles share_tiles(double tiles, double length, double hidden, const ArrayGroup& arrays) {
    const double part = std::ceil(length / arrays.count);
    const SharedTiles by_tile{std::ceil(tiles / arrays.count) * std::max(length, hidden), hidden > length};
    const SharedTiles by_step{tiles * std::max(part, hidden), hidden > part};
    return by_step.cycles < by_tile.cycles ? by_step : by_tile;
}

/// Tiles of `rows` x `cols` cells each, of the array's own or fewer.
struct Tiling {
    double tiles = 1, inner = 1; ///< of these, how many add to the same sums
    double rows = 1, cols = 1;
};

static TileCount weight_stationary(const Tiling& tiling, const Product& p, const ArrayGroup& a) {
    const auto [tiles, inner_tiles, rows, cols] = tiling;
    TileCount t;
    // First load, then operands skew in over the rows and results out over the columns.
    const double fill = rows + rows + cols - 2;
    const SharedTiles shared = share_tiles(tiles, p.m, rows, a);
    t.cycles = shared.cycles + fill;
    t.loads_bind = shared.hidden_binds;
    if (a.folds_apart) {
        t.cycles = std::ceil(tiles / a.count) * (2 * a.rows + a.cols + p.m - 2) - 1;
        t.loads_bind = false;
    }
    t.padded_macs = tiles * rows * cols * p.m;
    t.weight_loads = tiles * rows * cols;
    t.streamed = tiles * rows * p.m;
    // Each of the reduction's tiles adds to the sums of the one before.
    t.accumulations = tiles * cols * p.m * (inner_tiles > 1 ? 2 : 1);
    t.sum_hops = tiles * cols * p.m * rows;
    t.arrays_used = std::min(a.count, std::max(tiles, p.m > rows ? a.count : 1.0));
    return t;
}

static TileCount output_stationary(const Tiling& tiling, const Product& p, const ArrayGroup& a) {
    const auto [tiles, inner_tiles, rows, cols] = tiling;
    TileCount t;
    // A tile's results shift out over the rows while the next tile accumulates.
    t.cycles = std::ceil(tiles / a.count) * std::max(p.k, rows) + rows + cols - 2 + rows;
    if (a.folds_apart)
        t.cycles = std::ceil(tiles / a.count) * (a.rows + a.cols + p.k - 2) - 1;
    t.padded_macs = tiles * rows * cols * p.k;
    t.streamed = tiles * (rows + cols) * p.k;
    t.accumulations = tiles * rows * cols;
    t.sum_hops = t.accumulations * rows / 2; // half of the rows on average
    t.arrays_used = std::min(a.count, tiles);
    return t;
}

/// More parts than these are as good as equal. A gain below this share is none: compilers do not chase it,
/// and a measured row of TPU v5e, which was in sight, moved by 18 % for gains of less.
constexpr double kMostParts = 64, kLeastGain = 0.01;

/// The fastest of cutting something into `fewest` parts, which fill the array's rows, or into more, for which
/// a part of the rows is enough: they load sooner, and keep more arrays busy. `streaming` is what each part
/// streams at least.
template <class Count>
static TileCount fastest_cut(double fewest, double streaming, const ArrayGroup& a, Count count) {
    TileCount best = count(fewest);
    for (double parts = fewest + 1; parts <= kMostParts && parts * streaming / a.count < best.cycles; ++parts)
        if (TileCount t = count(parts); t.cycles < best.cycles * (1 - kLeastGain))
            best = t;
    return best;
}

TileCount count_tiles(const Product& p, const ArrayGroup& a) {
    const double columns = std::ceil(p.n / a.cols), cols = std::ceil(p.n / columns);
    const double over_rows = a.output_stationary ? p.m : p.k, streaming = a.output_stationary ? p.k : p.m;
    const auto cut = [&](double parts) {
        const Tiling tiling{p.groups * parts * columns, parts, std::ceil(over_rows / parts), cols};
        return a.output_stationary ? output_stationary(tiling, p, a) : weight_stationary(tiling, p, a);
    };
    return fastest_cut(std::ceil(over_rows / a.rows), p.groups * columns * streaming, a, cut);
}

TileCount count_packed_groups(const Window& w, const Product& p, const ArrayGroup& a) {
    const double inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
    const double per_tile = std::floor(std::min(a.rows / inputs, a.cols / outputs));
    if (per_tile < 1 || w.transposed || a.output_stationary)
        return count_tiles(p, a);
    return fastest_cut(std::ceil(p.groups / per_tile), w.taps() * p.m, a, [&](double parts) {
        const double packed = std::ceil(p.groups / parts);
        return weight_stationary({parts * w.taps(), w.taps(), packed * inputs, packed * outputs}, p, a);
    });
}

} // namespace archsim::systolic
