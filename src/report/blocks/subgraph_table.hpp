#pragma once

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One row per fused subgraph: allocation, time of each lane, what binds, utilisation, energy.
Table subgraph_table(const Result& result);

/// "the step at 575 positions (one of 127, 6.1 ms)", "the prompt's pass (21 ms)": whose subgraphs a result
/// lists; empty where the model has one pass.
std::string pass_text(const Result& result);
/// The same in the title of a table: "Subgraphs of the prompt's pass (21 ms)".
std::string with_pass(std::string title, const Result& result);

/// What binds a subgraph: "starting kernels", or the resource that takes longest on the side that binds,
/// which is the side that bottleneck distributions count it on.
std::string bound_label(Bound bound, Resource binding);

/// Time and energy that no subgraph of the pass holds; nothing where they hold all.
struct OutsideSubgraphs {
    double latency_s = 0, energy_j = 0;
};
std::optional<OutsideSubgraphs> outside_subgraphs(const Result& result);
/// A part of it: waiting for weights that stream ahead, each fixed cost of an inference, and the rest.
struct OutsidePart {
    std::string name;
    OutsideSubgraphs cost;
};
/// They add up to outside_subgraphs().
std::vector<OutsidePart> outside_parts(const Result& result);

/// What the device's first engine counts: "SM", "core", "tile".
std::string_view unit_name(const Device& device);

/// "54 of 108 SM, 0.50 waves, tile 128x64, implicit GEMM".
std::string allocation_text(const Allocation& allocation, std::string_view unit);

/// Equal subgraphs: same kind, bound, allocation, time and energy.
struct SubgraphGroup {
    std::vector<std::size_t> members; ///< into Estimate::subgraphs, in order
    double latency_s = 0;             ///< of all
    double energy_j = 0;
};

/// The groups, the longest first. A subgraph is in exactly one.
std::vector<SubgraphGroup> group_subgraphs(const Result& result);

/// The name that its members share, with a star for numbers that differ.
std::string group_name(const Result& result, const SubgraphGroup& group);

/// One row per group; with `most` > 0 the longest, and a row that adds up the others.
Table grouped_subgraph_table(const Result& result, std::size_t most);

} // namespace archsim
