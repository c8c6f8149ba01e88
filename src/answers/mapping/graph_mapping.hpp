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

#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"
#include "import/annotate.hpp"
#include "map/tiled.hpp"
#include "report/render/answer_document.hpp"

#include <optional>
#include <string>

namespace archsim {

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
AnswerDocument document_of(const Result& result, const GraphMappingView& view);

/// The subgraphs and what flows between them as a Graphviz document.
std::string mapping_to_dot(const Result& result);
std::string mapping_to_mermaid(const Result& result);

/// A section with the `top` slowest subgraphs one by one; 0: all.
void add_slowest_subgraphs(const Result& result, int top, Report& report);

/// "request", "model" and "result" of documents of one estimate.
Members<Result> one_result_members(const MetricView& view);
/// "subgraphs", each with its terms: empty without an estimate.
Member<Result> subgraphs_member();
/// "memory": the plan; null where there is none.
Member<Result> memory_plan_member();

// How a subgraph's largest product is tiled: loop order, tile, what each operand moves and why other orders
// lost; and what each level of memory passes and spends.
//
//   Loop order:   outputs, inputs, space (innermost): weight-stationary
//   Tile:         64 of 64 output channels, 64 of 64 input channels, 12 x 16 of 224 x 224 pixels
//   Holds:        65.3 kB of 65.5 kB
//   Next order:   output-stationary moves 1.47x

/// Nothing where the family's mapper tiles no product of it.
std::optional<KnowsTiling::Tiled> tiling_of(const Result& result, const SubgraphEstimate& subgraph);
// The estimate of every operator, for viewers: notes for a copy of the ONNX file, node data for Model
// Explorer, and the predicted schedule as a trace that Perfetto and chrome://tracing open.

/// Time, energy, bound and subgraph of every operator, by the name of its first result. A subgraph's numbers
/// stand at its anchor; its other operators name it. With the sizes of what the graph returns.
Annotations annotations_of(const Result& result);

/// Node data of Model Explorer: {"main_graph": {"results": {NODE: {"value": us}}, "gradient": [...]}}.
std::string to_model_explorer(const Result& result);

/// Trace events (JSON): a process per chip; threads for the schedule, its compute, on-chip and memory time
/// and its fixed cost. Kernels run one after another; within one the lanes start together behind its fixed
/// cost. What belongs to no kernel stands at the beginning (fixed cost of the inference) or at the end
/// (weights that stream longer than kernels run), so that the trace is as long as the latency; of an answer
/// to a prompt as long as the pass that shown_pass() names.
std::string to_trace(const Result& result);

} // namespace archsim
