#pragma once
// Graphs of one model at several sizes that fuse alike: partitioned once for all of them.

#include "archsim/ops/shaped_graph.hpp"

namespace archsim {

/// True where partition() makes the same of both graphs, whatever the policy: they have the same operators on
/// the same tensors, and every size that fusion compares with another lies on the same side of it. A
/// partition holds no sizes. Worked: a batch of 8 scales both inputs of a residual addition, and neither
/// becomes larger than the other. False where that would take long to find out.
bool fuse_alike(const ShapedGraph& one, const ShapedGraph& other);

} // namespace archsim
