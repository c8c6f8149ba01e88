#pragma once
// Tensors that formats treat apart: automatic mixed precision leaves some in fp32, quantisation schemes spare
// output projections.

#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Operators that multiply: automatic mixed precision brings what they read to the narrow format, and they
/// yield it.
bool multiplies(OpKind kind);

/// Per tensor 1 where it is fp32 under automatic mixed precision: inputs, what normalisation (but of
/// batches), softmax and look-ups in fp32 tables yield, what an fp32 parameter is added to or multiplied
/// with, and what else reads such a tensor but multiplies nothing. Source: PyTorch, "Automatic Mixed
/// Precision package", lists of operators that autocast to float16, autocast to float32, and promote to the
/// widest input type. Worked: the residual stream of a vision transformer is fp32 from the sum with its
/// positions on.
std::vector<std::uint8_t> find_wide_tensors(const ShapedGraph& graph);

/// Per tensor 1 for weights of the products that only views and element-wise work separate from a result of
/// the network. A cache is state, not a result.
std::vector<std::uint8_t> find_lm_head_weights(const ShapedGraph& graph);

} // namespace archsim
