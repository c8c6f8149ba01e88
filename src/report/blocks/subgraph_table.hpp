#pragma once
// The subgraphs of an estimate, row by row, and the sorts of layers that a network consists of.

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

/// The bound of a subgraph: "starting kernels", or the resource that takes longest on the side that binds,
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

/// The unit of the device's first engine: "SM", "core", "tile".
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

// The sorts of layers in a network, and where its utilisation is least and most.

/// The sort of a subgraph by the operator that anchors it: "Conv2D", "Linear" (a product with constant
/// weights), "MatMul" (of two activations), "Pooling".
std::string operation_name(const ShapedGraph& graph, const Subgraph& subgraph);
/// The same with the channels or features that it makes: "Conv2D 64ch", "Linear 1000".
std::string operation_with_size(const ShapedGraph& graph, const Subgraph& subgraph);

/// Subgraphs of one sort, over all parts of a model.
struct OperationShare {
    std::string name;
    double subgraphs = 0; ///< executions of a repeated part count each time
    double latency_s = 0; ///< 0 without an estimate that kept its subgraphs
};
/// Most subgraphs first; empty where the network was not partitioned.
std::vector<OperationShare> operation_shares(const Result& result);

/// "85 % (42 subgraphs)" of the subgraphs by sort: "Conv2D Operations".
std::vector<NamedValue> subgraph_shares(const Result& result);
/// "85 % of the time (42 subgraphs)", longest first.
std::vector<NamedValue> time_shares(const Result& result);

/// Average, least and most, the last two with their layer and its sort, and what the average means.
std::vector<NamedValue> utilization_facts(const Result& result);
/// "Average 60.8 %; Min 4.1 %; Max 68.6 %".
std::string utilization_line(const Result& result);

/// The meaning of a utilisation, by the bands of docs/reading_a_report.md.
struct UtilizationBand {
    double from = 0; ///< share from which it holds
    std::string_view verdict, meaning;
};
const UtilizationBand& utilization_band(double utilization);
/// "poor, significant waste: 62 % of the time is bound by memory; a narrower format ... helps".
std::string utilization_reading(const Result& result);

} // namespace archsim
