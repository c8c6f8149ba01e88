#pragma once
// Who else reads what a subgraph reads. Private.

#include "archsim/partition/partition.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Of every subgraph the next one with the same main input, the first again after the last; itself where it
/// is the only one. `tensors`: how many the graph has.
std::vector<std::uint32_t> next_readers(const std::vector<Subgraph>& subgraphs, std::size_t tensors);

} // namespace archsim
