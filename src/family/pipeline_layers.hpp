#pragma once
// What the compiler of a spatial pipeline makes of a network's subgraphs. Private to the NPU mapper.

#include "archsim/map/machine.hpp"
#include "archsim/map/work.hpp"

#include <vector>

namespace archsim::npu {

/// Layers of a pipeline that a subgraph becomes. A compiler merges what follows a product into it, but
/// for a sum with another tensor behind an activation; a normalisation and a softmax come apart.
double layers_of(const SubgraphWork& work, const Machine& machine);

/// Units that one controller can use on a subgraph: they divide its output channels, of which each makes
/// `unit_channels`; 0: not stated.
double units_of_controller(const SubgraphWork& work, double unit_channels);

/// The largest tensor that a subgraph hands on from layer to layer, in bytes.
double largest_tensor_bytes(const SubgraphWork& work, const Machine& machine);

/// Of every subgraph, whether it turns results into boxes and scores: nothing that follows from it is a layer
/// worth the name. Compilers' parsers end at the last layers and leave that to the application.
std::vector<bool> decodes_results(const NetworkWork& network);

} // namespace archsim::npu
