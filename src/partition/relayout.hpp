#pragma once
#include "archsim/partition/partition.hpp"
#include "partition/fusion_graph.hpp"

#include <vector>

namespace archsim {

/// Finds the images that change between the blocked layout of convolution kernels and the plain one of the
/// graph, for stacks that keep images blocked from one convolution to the next: fills Subgraph::relaid.
/// Convolutions whose weights callers may replace stay in the plain one where the policy folds no such
/// weights.
void find_relaid(const FusionGraph& fusion, const FusionPolicy& policy, std::vector<Subgraph>& subgraphs);

} // namespace archsim
