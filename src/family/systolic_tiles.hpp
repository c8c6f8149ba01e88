#pragma once
// Tiles of a matrix product on the systolic arrays of one core. Private to the TPU mapper.

#include "archsim/ops/shaped_graph.hpp"

namespace archsim::systolic {

/// The arrays of one core.
struct ArrayGroup {
    double rows = 128, cols = 128; ///< cells
    double count = 1;
    bool output_stationary = false;
    bool folds_apart = false; ///< a tile is loaded, streamed through and drained before the next begins
};

/// `groups` independent M x N x K products.
struct Product {
    double groups = 1, m = 1, n = 1, k = 1;
};

struct TileCount {
    double cycles = 0; ///< of the core, one operand per cell and clock
    double padded_macs = 0;
    double weight_loads = 0;  ///< elements shifted into arrays before streaming
    double streamed = 0;      ///< elements that enter at an edge while computing
    double accumulations = 0; ///< partial sums read or written outside the arrays
    double sum_hops = 0;      ///< partial sums from cell to cell inside the arrays
    double arrays_used = 0;
    bool loads_bind = false; ///< loading weights takes longer than streaming rows through them
};

/// Weight stationary: ceil(K/R) ceil(N/C) tiles; M rows stream through each while the next tile's R rows of
/// weights load behind it, so a tile takes max(M, R) cycles; load, skew and drain are paid once. Arrays share
/// the tiles, or the rows where that is faster. Output stationary: ceil(M/R) ceil(N/C) tiles, K steps each. A
/// product may use a part of the array: K is cut evenly, into more parts where that is faster, and N evenly.
/// Worked: K = 300 on 128 rows are three tiles of 100. With folds apart the cycles are those that SCALE-Sim
/// counts without memory stalls (Samajdar et al., arXiv:1811.02883): weight stationary 2 R + C + M - 2 for
/// each tile, output stationary R + C + K - 2, less one. Worked: 32 x 32 x 32 on 32 x 32 are 125.
TileCount count_tiles(const Product& product, const ArrayGroup& arrays);

/// A grouped convolution with the groups packed along the diagonal, one tap at a time: as many groups per
/// tile as fit both sides, so a tile holds (R / inputs) groups of one tap.
TileCount count_packed_groups(const Window& window, const Product& product, const ArrayGroup& arrays);

} // namespace archsim::systolic
