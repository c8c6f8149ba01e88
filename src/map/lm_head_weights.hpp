#pragma once
// Output projections, which quantisation schemes treat apart.

#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Per tensor 1 for weights of the products that only views and element-wise work separate from a result of
/// the network. A cache is state, not a result.
std::vector<std::uint8_t> find_lm_head_weights(const ShapedGraph& graph);

} // namespace archsim
