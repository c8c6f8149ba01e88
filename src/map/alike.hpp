#pragma once
// Networks repeat themselves: the layers of a transformer, the blocks of a residual network. Subgraphs that
// no mapper can tell apart are counted and priced once.

#include "archsim/map/work.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// For each subgraph the first one that counts alike (itself where it is the first): equal in all that the
/// library's mappers look at. That is its SubgraphWork but for name and index, the operators behind it with
/// the sizes of their tensors, the bytes alive while it runs, what it reads of the network's inputs, and the
/// products near it that read the same tensor. Worked: the 24 layers of BERT-large have as many different
/// subgraphs as 2.
std::vector<std::uint32_t> find_alike(const NetworkWork& network);

} // namespace archsim
