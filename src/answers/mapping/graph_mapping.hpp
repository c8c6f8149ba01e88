#pragma once
// How a network sits on a device: every fused subgraph with its operators, allocation, demands on each
// resource, times, bound and energy; the roofline, the memory timeline and the reasons of the partition on
// request.
//
//   GRAPH MAPPING: ResNet-50 on A100
//   ...
//   Subgraph        Kind         Time  Bound by       Compute  On-chip  Memory  Fixed  Util  Energy
//   Allocation conv1/Conv      convolution  8.19  matrix_cycles  ...
//
//   conv1/Conv (subgraph 0)
//     Operators:   Conv 1x3x224x224 -> 1x64x112x112, Relu
//     Allocation:  98 of 108 SM, 1 wave, tile 128x64, implicit GEMM
//     ...

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <string>

namespace archsim {

/// What of it is shown.
struct GraphMappingView {
    std::string subgraph;   ///< instead of the slowest: those of that name, or with it in their name
    int top = 1;            ///< slowest groups of equal subgraphs described one by one; 0: all
    bool roofline = false;  ///< intensity and rate of every subgraph under the device's roofs
    bool memory = false;    ///< live bytes at every step, tensors at the peak
    bool partition = false; ///< why every operator joined its subgraph or was cut off
    bool verbose = false;   ///< every subgraph in a row of its own
};

/// CSV: the table of subgraphs. HTML: everything, whatever the view asks for.
Report describe(const Result& result, const GraphMappingView& view, Format format = Format::text);
/// {"schema": "archsim.analyze_graph_mapping/1", "subgraphs": [...]}; unknown values are null.
std::string to_json(const Result& result, const GraphMappingView& view);

/// The subgraphs and what flows between them as a Graphviz document.
std::string mapping_to_dot(const Result& result);
/// The same as a Mermaid flowchart.
std::string mapping_to_mermaid(const Result& result);

/// A section with the `top` slowest subgraphs one by one; 0: all.
void add_slowest_subgraphs(const Result& result, int top, Report& report);

/// "subgraphs", each with its terms: empty without an estimate.
Member<Result> subgraphs_member();
/// "memory": the plan; null where there is none.
Member<Result> memory_plan_member();

} // namespace archsim
