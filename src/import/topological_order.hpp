#pragma once
// Execution order of a graph whose file lists its nodes in another one.

#include "archsim/graph/graph.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace archsim::import {

struct NodeOrder {
    std::vector<std::size_t>
        nodes; ///< indices into Graph::nodes, earliest in the file first among the ready ones
    std::vector<std::size_t> cyclic; ///< nodes that depend on themselves or on such a node; not in `nodes`
};

/// `subgraph_reads` adds what the subgraphs of a node read: (index of the node, tensor).
NodeOrder topological_order(const Graph& graph,
                            const std::vector<std::pair<std::size_t, TensorId>>& subgraph_reads);

} // namespace archsim::import
