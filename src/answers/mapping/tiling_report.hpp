#pragma once
// How a subgraph's largest product is tiled: loop order, tile, what each operand moves and why other orders
// lost; and what each level of memory passes and spends.
//
//   Loop order:   outputs, inputs, space (innermost): weight-stationary
//   Tile:         64 of 64 output channels, 64 of 64 input channels, 12 x 16 of 224 x 224 pixels
//   Holds:        65.3 kB of 65.5 kB
//   Next order:   output-stationary moves 1.47x

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include "map/tiled.hpp"

#include <optional>

namespace archsim {

/// Nothing where the family's mapper tiles no product of it.
std::optional<KnowsTiling::Tiled> tiling_of(const Result& result, const SubgraphEstimate& subgraph);
/// The same as lines.
void add_tiling_facts(const Result& result, const SubgraphEstimate& subgraph, Facts& facts);
/// Bytes and joules by level of memory, nearest first.
Table level_table(const Result& result, const SubgraphEstimate& subgraph);

} // namespace archsim
