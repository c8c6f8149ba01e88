#pragma once
// A depthwise convolution and the 1x1 convolution beside it as one dense convolution: more arithmetic on the
// matrix engines, one pass over the activations less (Tan and Le, EfficientNetV2, section 3.2, fuse the first
// stages this way).

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

namespace archsim {

/// Which 1x1 convolution goes into the dense one.
enum class Pointwise : std::uint8_t { before, after };

/// Channels of the depthwise convolutions that have such a neighbour.
std::set<std::int64_t> separable_channels(const Graph& graph, Pointwise side);

/// The graph with one dense convolution for each such pair of at most `channels` channels, and their number;
/// null where there is none. What stood between the two (activation, normalisation) is gone.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_dense_windows(const Graph& graph, Pointwise side,
                                                                        std::int64_t channels);

} // namespace archsim
