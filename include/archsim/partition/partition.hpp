#pragma once
// Fused subgraphs: what runs as one kernel (or one layer of an accelerator), with the reason of every join
// and cut.

#include "archsim/core/export.hpp"
#include "archsim/extend/fusion_policy.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Why an operator is in its subgraph, or starts one.
enum class FusionReason : std::uint8_t {
    starts_subgraph,   ///< contraction, reduction or data movement: needs a kernel of its own
    batch_norm_folded, ///< scale and shift folded into weights
    bias_added,
    activation_fused,
    gated_activation_fused,
    residual_fused,
    elementwise_chained,
    pattern_attention, ///< part of a MatMul-Softmax-MatMul chain
    pattern_normalization,
    transparent,         ///< no work at run time
    in_place,            ///< concatenation or split without a copy
    cut_several_readers, ///< the producer's output is read elsewhere too
    cut_policy,          ///< the runtime does not fuse this
    cut_replaceable,     ///< callers may replace the weights that it would fold
    cut_shape,           ///< sizes differ (broadcast in the wrong direction)
    cut_second_residual, ///< the subgraph already reads one extra tensor
};
inline constexpr std::array<std::string_view, 16> kFusionReasons = {
    "starts a kernel of its own",
    "scale and shift folded into the weights",
    "constant added in the epilogue",
    "activation applied in the epilogue",
    "gated activation applied in the epilogue",
    "second tensor added in the epilogue",
    "elementwise work on the same elements",
    "scores stay on chip between the two products",
    "part of one normalisation over the same tensor",
    "no work at run time",
    "producers write their part of the result directly",
    "cut: the input is also needed elsewhere",
    "cut: the runtime does not fuse this",
    "cut: the weights are inputs of the graph, which callers may replace",
    "cut: no input has the size of the output",
    "cut: the kernel already reads a second tensor"};
constexpr std::string_view describe(FusionReason reason) {
    return kFusionReasons[static_cast<std::size_t>(reason)];
}

/// An operator of a subgraph.
struct SubgraphMember {
    std::uint32_t op = 0; ///< index into ShapedGraph::operators
    FusionReason reason = FusionReason::starts_subgraph;
    bool operator==(const SubgraphMember&) const = default; ///< the same place for the same reason
};

/// Operators that run as one kernel or one layer.
struct Subgraph {
    std::string name;         ///< name of the anchor operator
    std::uint32_t anchor = 0; ///< operator that gives the subgraph its kind
    OpKind kind = OpKind::free;
    double repeat = 1;
    std::vector<SubgraphMember> members;     ///< topological order
    TensorList inputs;                       ///< activations read from outside, main input first
    TensorList weights;                      ///< constants read
    TensorList outputs;                      ///< tensors read outside or returned
    std::vector<std::uint32_t> predecessors; ///< subgraphs whose outputs are read
    /// Images written here that change between the blocked layout of convolution kernels and the plain one,
    /// once for each change: twice where a convolution ends in an operator that knows the plain one alone.
    TensorList relaid;
    /// Operands of a batched product here that lie scattered and are copied first, where the stack's products
    /// want them so (FusionPolicy::strided_products).
    TensorList gathered;
    bool operator==(const Subgraph&) const = default; ///< equal in all of it
};

/// One activation in memory: views and in-place concatenations share a buffer.
struct Buffer {
    TensorId tensor = kNoTensor; ///< the tensor whose size the buffer has
    std::uint32_t first = 0;     ///< subgraph that writes it (0 for inputs of the graph)
    std::uint32_t last = 0;      ///< last subgraph that reads it
    bool kv_cache = false;
    bool operator==(const Buffer&) const = default; ///< the same tensor for the same time
};

/// A graph cut into fused subgraphs. Several policies may cut it alike.
struct Partition {
    std::vector<Subgraph> subgraphs;          ///< topological order
    std::vector<Buffer> buffers;              ///< what crosses subgraphs, with its lifetime
    std::vector<std::uint32_t> critical_path; ///< longest chain by subgraph count
    /// For every product (matmul, convolution) and pooling the next one with the same main input, after the
    /// last of them the first again; of everything else the subgraph itself.
    std::vector<std::uint32_t> next_reader;
    bool operator==(const Partition&) const = default; ///< cut alike, for the same reasons
};

/// Groups the operators of `graph` by `policy`. Every operator with run-time work is in exactly one subgraph.
ARCHSIM_API Partition partition(const ShapedGraph& graph, const FusionPolicy& policy);

} // namespace archsim
