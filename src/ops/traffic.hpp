#pragma once
// How much of its tensors an operator touches.

#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>

namespace archsim {

/// Elements of input `input`, which is `tensor`, that one execution reads: all, unless the operator says
/// otherwise (Gather reads rows, Slice a part).
double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor);

/// Elements of output `output`, which is `tensor`, that one execution writes: all, unless the operator says
/// otherwise (attention appends new keys and values to a cache that it shares with its input).
double written_elements(const Operator& op, std::size_t output, const ShapedTensor& tensor);

} // namespace archsim
