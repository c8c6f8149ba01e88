#pragma once
// What an estimate says of every operator, for viewers: notes for a copy of the ONNX file, node data for
// Model Explorer, and the predicted schedule as a trace that Perfetto and chrome://tracing open.

#include "archsim/compare/result.hpp"
#include "import/annotate.hpp"

#include <string>

namespace archsim {

/// Time, energy, bound and subgraph of every operator, by the name of its first result. A subgraph's numbers
/// stand at its anchor; its other operators name it. With the sizes of what the graph returns.
Annotations annotations_of(const Result& result);

/// Node data of Model Explorer: {"main_graph": {"results": {NODE: {"value": us}}, "gradient": [...]}}.
std::string to_model_explorer(const Result& result);

/// Trace events (JSON): a process per chip; threads for the schedule, its compute, on-chip and memory time
/// and its fixed cost. Kernels run one after another; within one the lanes start together behind its fixed
/// cost. What belongs to no kernel stands at the beginning (fixed cost of the inference) or at the end
/// (weights that stream longer than kernels run), so that the trace is as long as the latency.
std::string to_trace(const Result& result);

} // namespace archsim
