#pragma once
#include "archsim/partition/partition.hpp"

#include <vector>

namespace archsim {

/// Fills Subgraph::gathered. A library's batched product takes matrices at one distance from each other;
/// after a transposition that leaves heads inside of positions, those of several sequences and heads are not,
/// and the framework copies them together (PyTorch, torch.matmul: operands of more than three dimensions are
/// reshaped to three). Worked: queries of Swin-T lie as (3, windows, heads, 49, 32) over rows of 288 values,
/// one copy each for queries, keys and values.
void find_gathered(const ShapedGraph& graph, std::vector<Subgraph>& subgraphs);

} // namespace archsim
