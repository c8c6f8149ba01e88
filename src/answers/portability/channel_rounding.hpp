#pragma once
// Channels of convolutions at multiples of the tiles of an engine.

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace archsim {

/// The graph with every number of channels between its convolutions and products at the nearest multiple of
/// `multiple` (at least one), and how many weights changed; null where none did. What the graph takes and
/// returns keeps its size. Where sizes are added up (concatenations) or written into the graph the result may
/// not fit together any more: binding tells.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_rounded_channels(const Graph& graph,
                                                                           std::int64_t multiple);

} // namespace archsim
