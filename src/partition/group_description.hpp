#pragma once
// From operators placed in groups to the subgraphs of a partition.

#include "archsim/partition/partition.hpp"
#include "partition/fusion_graph.hpp"

namespace archsim {

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFFu;

/// Group of an operator, and why it is there.
struct Placement {
    std::uint32_t group = kNoGroup;
    FusionReason reason = FusionReason::starts_subgraph;
};

struct GroupHead {
    std::uint32_t anchor = 0; ///< operator that gives the group its kind
    OpKind kind = OpKind::free;
};

/// The subgraph of every group, in order of the groups; `placement` is that of every operator.
/// `predecessors` are groups.
std::vector<Subgraph> describe_groups(const FusionGraph& fusion, std::span<const GroupHead> groups,
                                      std::span<const Placement> placement);

/// Activation buffers and their lifetimes over the schedule `subgraphs`. Graph inputs live from the start,
/// graph outputs to the end; the parts of an in-place concatenation live in its result's buffer.
std::vector<Buffer> find_buffers(const FusionGraph& fusion, const std::vector<Subgraph>& subgraphs);

/// Fills Subgraph::gathered. A library's batched product takes matrices at one distance from each other;
/// after a transposition that leaves heads inside of positions, those of several sequences and heads are not,
/// and the framework copies them together (PyTorch, torch.matmul: operands of more than three dimensions are
/// reshaped to three). Worked: queries of Swin-T lie as (3, windows, heads, 49, 32) over rows of 288 values,
/// one copy each for queries, keys and values.
void find_gathered(const ShapedGraph& graph, std::vector<Subgraph>& subgraphs);

/// For every product (matmul, convolution) the next one with the same main input, the first again after the
/// last; of all else and where it is the only one the subgraph itself. `tensors`: how many the graph has.
std::vector<std::uint32_t> next_readers(const std::vector<Subgraph>& subgraphs, std::size_t tensors);

/// Finds the images that change between the blocked layout of convolution kernels and the plain one of the
/// graph, for stacks that keep images blocked from one convolution to the next: fills Subgraph::relaid.
/// Convolutions whose weights callers may replace stay in the plain one where the policy folds no such
/// weights.
void find_relaid(const FusionGraph& fusion, const FusionPolicy& policy, std::vector<Subgraph>& subgraphs);

struct AttentionRegion {
    std::uint32_t score_product = 0;    ///< Q K^T
    std::uint32_t value_product = 0;    ///< softmax(...) V
    bool biased = false;                ///< the scores of each head have a bias of their own
    std::vector<std::uint32_t> members; ///< ascending, with the transposes that the kernel reads through
};

std::vector<AttentionRegion> find_attention(const FusionGraph& graph);

/// Topological order of subgraphs by `predecessors`, ties in their given order. Empty when the
/// subgraphs wait for each other.
std::vector<std::uint32_t> topological_group_order(const std::vector<Subgraph>& subgraphs);

/// The longest dependent chain, first to last, of subgraphs already in topological order.
std::vector<std::uint32_t> longest_chain(const std::vector<Subgraph>& subgraphs);

} // namespace archsim
