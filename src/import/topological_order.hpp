#pragma once
// One execution order for a graph, in whatever order its file lists the nodes.

#include "archsim/graph/graph.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace archsim::import {

struct NodeOrder {
    std::vector<std::size_t> nodes;  ///< indices into Graph::nodes
    std::vector<std::size_t> cyclic; ///< nodes that depend on themselves or on such a node; not in `nodes`
};

/// Depth first from the outputs, each node behind what its inputs need, in the order of these (as ONNX
/// Runtime orders nodes): it follows from the graph alone. `subgraph_reads` adds what the subgraphs of a node
/// read: (index of the node, tensor).
NodeOrder topological_order(const Graph& graph,
                            const std::vector<std::pair<std::size_t, TensorId>>& subgraph_reads);

} // namespace archsim::import
