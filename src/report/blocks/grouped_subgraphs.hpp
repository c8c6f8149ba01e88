#pragma once
// Subgraphs that are the same but for their names, in one row: "12 x attention MatMul: 48 us, 33 %".

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <vector>

namespace archsim {

/// Equal subgraphs: same kind, bound, allocation, time and energy.
struct SubgraphGroup {
    std::vector<std::size_t> members; ///< into Estimate::subgraphs, in order
    double latency_s = 0;             ///< of all
    double energy_j = 0;
};

/// The groups, the longest first. A subgraph is in exactly one.
std::vector<SubgraphGroup> group_subgraphs(const Result& result);

/// The name that its members share, with a star for numbers that differ.
std::string group_name(const Result& result, const SubgraphGroup& group);

/// One row per group; with `most` > 0 the longest, and a row that adds up the others.
Table grouped_subgraph_table(const Result& result, std::size_t most);

} // namespace archsim
