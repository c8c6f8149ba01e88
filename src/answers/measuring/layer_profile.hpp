#pragma once
// An estimate with subgraphs and the measured times of layers go in; the two side by side come out.

#include "archsim/compare/result.hpp"
#include "measurements/tool_output.hpp"
#include "measurements/types.hpp"

namespace archsim {

/// Lays layers beside the subgraphs of an estimate that kept them. A layer belongs to the subgraph that holds
/// one of the operators it names, or writes the tensor it is named after; several operators are joined by " +
/// " (TensorRT), and a runtime adds endings of its own ("_nchwc", "/MatMulAddFusion"). Throws InputError when
/// the estimate has no subgraphs or the output no layers.
LayerProfile match_layers(const Result& result, const ToolOutput& measured);

} // namespace archsim
