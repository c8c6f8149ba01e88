#pragma once
// The steps that make the work of a network: which of its subgraphs are the same, which tensors formats treat
// apart, and its memory by liveness.
//
// Networks repeat themselves: the layers of a transformer, the blocks of a residual network. Subgraphs that
// no mapper can tell apart are counted and priced once.

#include "archsim/map/work.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace archsim {

/// Which subgraphs are the same but for their names, whatever the formats: for each the first one like it,
/// itself where it is the first. Made once per partition, for all formats.
struct SubgraphClasses {
    /// The same operators on tensors of the same sizes and roles. Worked: the 24 layers of BERT-large have as
    /// many different subgraphs as 2.
    std::vector<std::uint32_t> by_work;
    /// Moreover the same near them that reads the same tensor: what a stack may multiply in one kernel.
    std::vector<std::uint32_t> by_place;
};

/// Numbers of what is the same whatever the formats and however the graph is cut, found once for all of its
/// partitions.
struct GraphKinds {
    std::vector<std::uint32_t> of_operator; ///< the same work, whatever the tensors are
    std::vector<std::uint32_t> of_tensor;   ///< the same size, type and role
    std::vector<std::uint8_t> lm_head;      ///< see find_lm_head_weights
    std::vector<std::uint8_t> wide;         ///< see find_wide_tensors
    bool operator==(const GraphKinds&) const = default;
};

/// `kinds` are those of the graph.
SubgraphClasses classify_subgraphs(const ShapedGraph& graph, const GraphKinds& kinds,
                                   const Partition& partition);

/// For each subgraph the first one of its equivalence class: of the same place, with as many bytes alive
/// while it runs.
std::vector<std::uint32_t> find_representatives(const SubgraphClasses& classes,
                                                const std::vector<double>& timeline);

// Tensors that formats treat apart: automatic mixed precision leaves some in fp32, quantisation schemes spare
// output projections.

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

// Memory of one inference by liveness over the schedule: what is alive at each step, and an arena with
// offsets.

/// `sizes[i]` are the bytes of `buffers[i]`; `steps` is the number of subgraphs.
MemoryPlan plan_memory(std::span<const Buffer> buffers, std::span<const double> sizes, std::size_t steps);

/// The plan for sizes that are all `factor` times those of `plan`; exact where that is a power of two.
MemoryPlan scaled(MemoryPlan plan, double factor);

} // namespace archsim
