#pragma once
// Who else multiplies with what a subgraph multiplies. Private.

#include "archsim/partition/partition.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Of every product (matmul, convolution) the next one with the same main input, the first again after the
/// last; of all else and where it is the only one the subgraph itself. `tensors`: how many the graph has.
std::vector<std::uint32_t> next_readers(const std::vector<Subgraph>& subgraphs, std::size_t tensors);

} // namespace archsim
