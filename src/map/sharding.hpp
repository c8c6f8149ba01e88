#pragma once
// Tensor parallelism: one network over several equal devices, found from the data flow of the graph.

#include "archsim/map/work.hpp"
#include "map/sharing.hpp"

#include <memory>

namespace archsim {

/// One chip's counts when `devices` devices share every large product (Shoeybi et al., Megatron-LM, 2019,
/// section 3):
///
///   whole input  x weights -> each chip computes a part of the columns (heads, channels); the result is
///                             spread
///   element-wise, attention, per-head normalisation of a spread tensor -> stays spread
///   spread input x weights -> each chip multiplies its part of the reduction; the results are summed by an
///                             all-reduce over the devices, 2 (n - 1) / n of the result through each link
///   normalisation of spread columns -> stays spread; the sums of each row are added by an all-reduce
///   what needs whole rows (softmax over columns, results of the network)
///                          -> an all-gather, (n - 1) / n of the tensor
///   a table of embeddings  -> each chip has a part of the rows; what they look up is summed by an all-reduce
///   everything else (norms of the residual stream) is repeated on every chip
///
/// Heads and groups are whole: with 14 heads on 8 devices the busiest chip has two. Keys and values of a
/// grouped-query attention with fewer heads than devices are repeated. The counts are those of the busiest
/// chip, and the graph is bound at the tokens of one group.
///
/// With Sharing::experts every chip holds whole experts. Tokens are sent to the devices of their experts and
/// come back (all-to-all): a token with k picks reaches (n - 1) (1 - (1 - 1/n)^k) other devices. Picks are
/// random, so that the busiest chip has more than the mean m of them, by x sqrt(m), x the mean of the largest
/// of n normal deviates (1.42 for 8), and reads more of its experts: as many standard deviations more, sqrt(e
/// p (1
/// - p)) of e experts that are each picked with probability p.
///
/// Between nodes an all-reduce adds 2 (q - 1) / q of each chip's part of the sum for q nodes (reduced within
/// nodes first); the part of an all-to-all that leaves a node is that of the devices outside.
std::shared_ptr<const DerivedCounts> shard(const ShapedGraph& graph, const Sharing& sharing);

/// Whether a graph has a mixture of experts, which Sharing::experts spreads.
bool has_experts(const ShapedGraph& graph);
/// Whether an operator multiplies by the weights of several experts.
bool is_of_experts(const Operator& op);

} // namespace archsim
