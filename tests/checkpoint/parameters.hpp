#pragma once
// How many parameters the graph of a checkpoint has.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"

namespace archsim::test {

inline double parameters(const Checkpoint& c) {
    return archsim::bind(c.graph, Bindings{}, c.dims).parameters();
}

} // namespace archsim::test
