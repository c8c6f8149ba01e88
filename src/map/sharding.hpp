#pragma once
// Tensor parallelism: one network over several equal devices, found from the data flow of the graph.

#include "archsim/core/export.hpp"
#include "archsim/map/work.hpp"

#include <memory>

namespace archsim {

/// One device's counts when `devices` devices share every large product (Shoeybi et al., Megatron-LM, 2019,
/// section 3):
///
///   whole input  x weights -> each device computes a part of the columns (heads, channels); the result is
///   spread element-wise, attention, per-head normalisation of a spread tensor -> stays spread spread input x
///   weights -> each device multiplies its part of the reduction; the results are summed over the
///                             devices by an all-reduce, 2 (n - 1) / n of the result through each device's
///                             link
///   what needs whole rows (layer normalisation, softmax over columns, results of the network)
///                          -> an all-gather, (n - 1) / n of the tensor
///   everything else (embedding, norms of the residual stream) is repeated on every device
///
/// Heads and groups are whole: with 14 heads on 8 devices the busiest device has two. Keys and values of a
/// grouped-query attention with fewer heads than devices are repeated. The counts are those of the busiest
/// device.
ARCHSIM_API std::shared_ptr<const DerivedCounts> shard(const ShapedGraph& graph, double devices);

} // namespace archsim
