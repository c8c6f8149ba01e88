#pragma once
// Attention with fewer, wider or more, narrower heads of the same width together.

#include "archsim/graph/graph.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace archsim {

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
