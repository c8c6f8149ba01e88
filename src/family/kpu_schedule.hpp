#pragma once
// Wavefront schedules of matrix products on a domain-flow fabric. Private to the KPU mapper.
//
// A product is a system of uniform recurrence equations over the lattice (i, j, k):
//   a(i,j,k) = a(i,j-1,k),  b(i,j,k) = b(i-1,j,k),  c(i,j,k) = c(i,j,k-1) + a b
// (domain-flow analysis, stillwater-sc/dfa-documentation). The linear schedule t = i + j + k, projected along
// k, puts one result on each processing element: a block of R x C results takes K steps and its wavefronts
// follow each other without a gap, so a chain of blocks pays skew in (R - 1) + (C - 1) once. One block alone
// takes K + R + C - 2 steps, 3 N - 2 for a cube of side N.

#include "archsim/map/machine.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include "map/buffers.hpp"

#include <array>
#include <cstddef>

namespace archsim::kpu {

struct KpuFacts : TiledFacts<KpuFacts> {
    std::array<Fact, 2> grid; ///< [rows, columns] of tiles
    std::string dataflow;
    std::vector<TileKind> tiles;
};

/// Equal tiles of the fabric in one number format.
struct TileClass {
    double rows = 16, cols = 16; ///< processing elements
    double count = 1;
    double pump = 1; ///< operands per element and clock
};

/// The tiles that have a format. Kinds of tiles are few: storage is fixed.
struct Fabric {
    static constexpr std::size_t kMaxClasses = 4;
    std::array<TileClass, kMaxClasses> classes{};
    std::size_t class_count = 0;
    double grid_rows = 1, grid_cols = 1;
    double elements() const; ///< processing elements times operands per clock
    double tiles() const;
};
/// Tiles of `machine` that multiply in `precision`; sides of a tile that the database leaves out are those of
/// a square of its multiply-accumulates per clock.
Fabric fabric_of(const Machine& machine, Precision precision);

struct Schedule {
    double cycles = 0;
    double waves = 0; ///< blocks that one tile computes after another
    double tiles_used =
        0; ///< fewer than the fabric where the iteration space is smaller ("allocation collapse")
    double padded_macs = 0;
    double edge_elements = 0; ///< operands that enter tiles at their edges
    double row_passes = 1;    ///< times the M-side operand crosses the grid
    double col_passes = 1;    ///< times the N-side operand does
    std::uint16_t rows = 0, cols = 0;
};

/// The fastest use of any mix of tile kinds for `groups` independent M x N x K products.
Schedule schedule_product(const Contraction& product, const Fabric& fabric);

/// A depthwise convolution: channels over the rows, taps over the columns (weights stay), output pixels in
/// time, so a tile makes R results per clock.
Schedule schedule_depthwise(const Window& window, const Fabric& fabric);

} // namespace archsim::kpu
