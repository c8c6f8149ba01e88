#pragma once
// Known rewrites of models whose operators leave an accelerator. Each is done on the imported graph, so that
// what it brings is estimated, not promised.

#include "archsim/graph/graph.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace archsim {

struct Rewrite {
    std::string_view name;  ///< "layer_norm_as_primitives"
    std::string_view title; ///< "LayerNormalization in primitives"
    std::string_view note;  ///< what it changes in the numbers that the model computes
    /// Changes the graph; the number of places.
    std::size_t (*apply)(Graph& graph);
};

std::span<const Rewrite> known_rewrites();

/// A rewritten copy and the number of places; null where there was none.
std::pair<std::shared_ptr<const Graph>, std::size_t> rewritten(const Graph& graph, const Rewrite& rewrite);

// One block of a network in eight bits, as tools for quantisation write it: its products between
// QuantizeLinear and DequantizeLinear.

/// The graph with the products of the nodes of these names in int8, activations and weights, and how many;
/// null where none of them multiplies weights.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_quantized_nodes(const Graph& graph,
                                                                          const std::set<std::string>& names);

/// The graph with every number of channels between its convolutions and products at the nearest multiple of
/// `multiple` (at least one), and how many weights changed; null where none did. What the graph takes and
/// returns keeps its size. Where sizes are added up (concatenations) or written into the graph the result may
/// not fit together any more: binding tells.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_rounded_channels(const Graph& graph,
                                                                           std::int64_t multiple);

// A depthwise convolution and the 1x1 convolution beside it as one dense convolution: more arithmetic on the
// matrix engines, one pass over the activations less (Tan and Le, EfficientNetV2, section 3.2, fuse the first
// stages this way).

/// Which 1x1 convolution goes into the dense one.
enum class Pointwise : std::uint8_t { before, after };

/// Channels of the depthwise convolutions that have such a neighbour.
std::set<std::int64_t> separable_channels(const Graph& graph, Pointwise side);

/// The graph with one dense convolution for each such pair of at most `channels` channels, and their number;
/// null where there is none. What stood between the two (activation, normalisation) is gone.
std::pair<std::shared_ptr<const Graph>, std::size_t> with_dense_windows(const Graph& graph, Pointwise side,
                                                                        std::int64_t channels);

/// Heads of a network's attention, and the length of a query in each.
struct HeadSizes {
    std::int64_t heads = 0, size = 0;
    bool operator==(const HeadSizes&) const = default;
};

/// The sizes of the attention with most arithmetic; absent without attention. `batch`: items of the bound
/// graph.
std::optional<HeadSizes> head_sizes(const ShapedGraph& graph, double batch);

/// The graph with `to` in place of `from`, which have the same product: in attributes of fused attention, and
/// in the whole numbers that decide shapes; and how many of these. Null where there is none. Numbers that
/// mean something else may be equal by chance: binding tells, see keeps_work().
std::pair<std::shared_ptr<const Graph>, std::size_t>
with_head_sizes(const Graph& graph, const HeadSizes& from, const HeadSizes& to);

/// True where the changed graph multiplies as much, returns the same shapes and has these heads.
bool keeps_work(const ShapedGraph& before, const ShapedGraph& after, const HeadSizes& heads, double batch);

} // namespace archsim
