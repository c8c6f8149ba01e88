#pragma once
// Known rewrites of models whose operators leave an accelerator. Each is done on the imported graph, so that
// what it brings is estimated, not promised.

#include "archsim/graph/graph.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace archsim {

/// One row of the table.
struct Rewrite {
    std::string_view name;  ///< "layer_norm_as_primitives"
    std::string_view title; ///< "LayerNormalization in primitives"
    std::string_view note;  ///< what it changes in the numbers that the model computes
    /// Changes the graph; the number of places.
    std::size_t (*apply)(Graph& graph);
};

/// All of them.
std::span<const Rewrite> known_rewrites();

/// A rewritten copy and the number of places; null where there was none.
std::pair<std::shared_ptr<const Graph>, std::size_t> rewritten(const Graph& graph, const Rewrite& rewrite);

} // namespace archsim
