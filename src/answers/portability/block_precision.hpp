#pragma once
// One block of a network in eight bits, as tools for quantisation write it: its products between
// QuantizeLinear and DequantizeLinear.

#include "archsim/graph/graph.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace archsim {

/// The graph with the products of the nodes of these names in int8, activations and weights, and how many;
/// null where none of them multiplies weights.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_quantized_nodes(const Graph& graph,
                                                                          const std::set<std::string>& names);

} // namespace archsim
