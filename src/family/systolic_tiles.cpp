#include "family/systolic_tiles.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::systolic {

namespace {

struct SharedTiles {
    double cycles = 0;
    bool hidden_binds = false; ///< what loads takes longer than what streams
};

/// `tiles` tiles of `length` streaming steps (at least `hidden`, what loads behind them) on several arrays:
/// whole tiles are dealt out, or every tile's steps are split.
SharedTiles share_tiles(double tiles, double length, double hidden, const ArrayGroup& arrays) {
    const double part = std::ceil(length / arrays.count);
    const SharedTiles by_tile{std::ceil(tiles / arrays.count) * std::max(length, hidden), hidden > length};
    const SharedTiles by_step{tiles * std::max(part, hidden), hidden > part};
    return by_step.cycles < by_tile.cycles ? by_step : by_tile;
}

TileCount weight_stationary(double tiles, double inner_tiles, const Product& p, const ArrayGroup& a) {
    TileCount t;
    // First load, then operands skew in over the rows and results out over the columns.
    const double fill = a.rows + a.rows + a.cols - 2;
    const SharedTiles shared = share_tiles(tiles, p.m, a.rows, a);
    t.cycles = shared.cycles + fill;
    t.loads_bind = shared.hidden_binds;
    t.padded_macs = tiles * a.rows * a.cols * p.m;
    t.weight_loads = tiles * a.rows * a.cols;
    t.streamed = tiles * a.rows * p.m;
    // Each of the reduction's tiles adds to the sums of the one before.
    t.accumulations = tiles * a.cols * p.m * (inner_tiles > 1 ? 2 : 1);
    t.sum_hops = tiles * a.cols * p.m * a.rows;
    t.arrays_used = std::min(a.count, std::max(tiles, p.m > a.rows ? a.count : 1.0));
    return t;
}

} // namespace

TileCount count_tiles(const Product& p, const ArrayGroup& a) {
    const double columns = std::ceil(p.n / a.cols);
    if (!a.output_stationary) {
        const double inner = std::ceil(p.k / a.rows);
        return weight_stationary(p.groups * inner * columns, inner, p, a);
    }
    TileCount t;
    const double tiles = p.groups * std::ceil(p.m / a.rows) * columns;
    // A tile's results shift out over the rows while the next tile accumulates.
    t.cycles = std::ceil(tiles / a.count) * std::max(p.k, a.rows) + a.rows + a.cols - 2 + a.rows;
    t.padded_macs = tiles * a.rows * a.cols * p.k;
    t.streamed = tiles * (a.rows + a.cols) * p.k;
    t.accumulations = tiles * a.rows * a.cols;
    t.sum_hops = t.accumulations * a.rows / 2; // half of the rows on average
    t.arrays_used = std::min(a.count, tiles);
    return t;
}

TileCount count_packed_groups(const Window& w, const Product& p, const ArrayGroup& a) {
    const double inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
    const double per_tile = std::floor(std::min(a.rows / inputs, a.cols / outputs));
    if (per_tile < 1 || w.transposed || a.output_stationary)
        return count_tiles(p, a);
    return weight_stationary(std::ceil(p.groups / per_tile) * w.taps(), w.taps(), p, a);
}

} // namespace archsim::systolic
