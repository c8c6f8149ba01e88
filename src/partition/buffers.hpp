#pragma once
#include "archsim/partition/partition.hpp"
#include "partition/fusion_graph.hpp"

#include <vector>

namespace archsim {

/// Activation buffers and their lifetimes over the schedule `subgraphs`. Graph inputs live from the start,
/// graph outputs to the end; the parts of an in-place concatenation live in its result's buffer.
std::vector<Buffer> find_buffers(const FusionGraph& fusion, const std::vector<Subgraph>& subgraphs);

} // namespace archsim
