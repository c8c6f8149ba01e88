#pragma once
#include "archsim/partition/partition.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Topological order of subgraphs by `predecessors`, ties in their given order. Empty when the
/// subgraphs wait for each other.
std::vector<std::uint32_t> topological_group_order(const std::vector<Subgraph>& subgraphs);

/// The longest dependent chain, first to last, of subgraphs already in topological order.
std::vector<std::uint32_t> longest_chain(const std::vector<Subgraph>& subgraphs);

} // namespace archsim
