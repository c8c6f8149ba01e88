#pragma once
// Networks repeat themselves: the layers of a transformer, the blocks of a residual network. Subgraphs that
// no mapper can tell apart are counted and priced once.

#include "archsim/map/work.hpp"

#include <cstdint>
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

} // namespace archsim
