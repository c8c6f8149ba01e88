#pragma once
#include "archsim/graph/graph.hpp"
#include "core/digest.hpp"

namespace archsim {

/// Adds all that an imported graph holds but its own name: two graphs with the same digest cost the same.
/// What a file says beside it (weights, descriptions) is not in the graph.
void add_graph(const Graph& graph, Digest& digest);

} // namespace archsim
