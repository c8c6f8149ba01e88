#pragma once
#include "archsim/partition/partition.hpp"
#include "partition/fusion_graph.hpp"

#include <vector>

namespace archsim {

/// Finds the images that change between the blocked layout of convolution kernels and the plain one of the
/// graph, for stacks that keep images blocked from one convolution to the next: fills Subgraph::relaid.
void find_relaid(const FusionGraph& fusion, std::vector<Subgraph>& subgraphs);

} // namespace archsim
