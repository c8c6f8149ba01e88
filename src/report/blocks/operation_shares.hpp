#pragma once
// What sorts of layers a network consists of, and where its utilisation is least and most.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

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

/// What a utilisation means, by the bands of docs/reading_a_report.md.
struct UtilizationBand {
    double from = 0; ///< share from which it holds
    std::string_view verdict, meaning;
};
const UtilizationBand& utilization_band(double utilization);
/// "poor, significant waste: 62 % of the time is bound by memory; a narrower format ... helps".
std::string utilization_reading(const Result& result);

} // namespace archsim
