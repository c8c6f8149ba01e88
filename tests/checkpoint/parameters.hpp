#pragma once
// How many parameters the graph of a checkpoint has, and whether a pattern names a module.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/weight_formats.hpp"

namespace archsim::test {

inline double parameters(const Checkpoint& c) {
    return archsim::bind(c.graph, Bindings{}, c.dims).parameters();
}

inline bool names_module(const std::string& pattern, std::string_view module) {
    return checkpoint::ModulePattern(pattern).names(checkpoint::ModuleName(module));
}

} // namespace archsim::test
