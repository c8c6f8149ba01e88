#pragma once
// What the totals of a graph leave out where a part of it is not understood.

#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace archsim {

/// The operators at run time of which nothing, or no shape, is known.
struct Uncounted {
    std::map<std::string, std::size_t> unknown; ///< type -> operators that are not understood
    std::size_t unshaped = 0;                   ///< operators without shapes, behind those or without sizes
    std::size_t operators = 0;                  ///< of the network at run time, these included
    double parameters = 0;                      ///< that only these read
    double all_parameters = 0;

    /// True where nothing is left out.
    bool empty() const { return unknown.empty() && unshaped == 0; }
};

Uncounted uncounted_of(const ShapedGraph& graph);

/// "2 of 112 operators are not understood (org.example.Foo) and 5 have no shapes; these hold 34 % of the
/// parameters: every total is a lower bound". Empty for a complete graph.
std::string uncounted_text(const ShapedGraph& graph);

} // namespace archsim
