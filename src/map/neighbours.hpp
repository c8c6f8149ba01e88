#pragma once
// Products and poolings of the same tensor: what a stack may run in one kernel or side by side. Private.

#include "archsim/partition/partition.hpp"

#include <cstdint>

namespace archsim {

/// Index of a subgraph that is in no partition of its network.
inline constexpr std::uint32_t kNoPlace = UINT32_MAX;

/// Calls `visit` with the index of every other product or pooling whose main input is that of `index`,
/// wherever it is in the graph; none for what is neither or of no partition (kNoPlace).
template <class Visit>
void for_each_neighbour(const Partition& partition, std::uint32_t index, Visit visit) {
    const auto& next = partition.next_reader;
    if (index >= next.size())
        return;
    for (std::uint32_t i = next[index]; i != index; i = next[i])
        visit(i);
}

} // namespace archsim
