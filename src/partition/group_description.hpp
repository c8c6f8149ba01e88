#pragma once
// From operators placed in groups to the subgraphs of a partition.

#include "archsim/partition/partition.hpp"
#include "partition/fusion_graph.hpp"

#include <cstdint>
#include <span>
#include <vector>

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

} // namespace archsim
