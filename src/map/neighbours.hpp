#pragma once
// Subgraphs near each other that read the same tensor: what a stack may multiply in one kernel. Private.

#include "archsim/partition/partition.hpp"

#include <algorithm>
#include <cstdint>

namespace archsim {

// Products of one tensor follow each other in the graph at most this far apart.
inline constexpr std::uint32_t kMergeReach = 3;
/// Index of a subgraph that is in no partition of its network.
inline constexpr std::uint32_t kNoPlace = UINT32_MAX;

/// Calls `visit` with the index of every other subgraph within reach whose main input is that of `index`;
/// none for a subgraph that is of no partition (kNoPlace).
template <class Visit>
void for_each_neighbour(const Partition& partition, std::uint32_t index, Visit visit) {
    const auto& subgraphs = partition.subgraphs;
    if (index >= subgraphs.size() || subgraphs[index].inputs.empty())
        return;
    const auto& inputs = subgraphs[index].inputs;
    const std::uint32_t first = index > kMergeReach ? index - kMergeReach : 0;
    const auto last = std::min(static_cast<std::uint32_t>(subgraphs.size()), index + kMergeReach + 1);
    for (std::uint32_t i = first; i < last; ++i)
        if (i != index && !subgraphs[i].inputs.empty() && subgraphs[i].inputs.front() == inputs.front())
            visit(i);
}

} // namespace archsim
