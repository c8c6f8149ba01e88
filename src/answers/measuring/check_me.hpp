#pragma once
// The command that measures what an estimate says, in the software stack that it names.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "measurements/tool_output.hpp"
#include "measurements/types.hpp"

#include <vector>

namespace archsim {

/// The stack's command (Runtime::check) for the model, sizes, prompt, format and cores of an estimate; or why
/// there is none: the library that it calls may not have the model. Of a model of several parts: ask for each
/// part.
CheckCommand check_command(const Session& session, const Result& result);

/// The commands that measure what was estimated, one per device and stack; equal ones once.
Report describe(const std::vector<CheckCommand>& commands);

/// Subgraphs with predicted and measured time and their ratio, the longest measured first, `rows` of them (0:
/// all), and a chart.
Report describe(const LayerProfile& profile, std::size_t rows);

/// Lays layers beside the subgraphs of an estimate that kept them. A layer belongs to the subgraph that holds
/// one of the operators it names, or writes the tensor it is named after; several operators are joined by " +
/// " (TensorRT), and a runtime adds endings of its own ("_nchwc", "/MatMulAddFusion"). Throws InputError when
/// the estimate has no subgraphs or the output no layers.
LayerProfile match_layers(const Result& result, const ToolOutput& measured);

} // namespace archsim
