#pragma once
// The formats of a question that names none.

#include "archsim/compare/conditions.hpp"
#include "archsim/core/export.hpp"
#include "archsim/graph/graph.hpp"
#include "archsim/run/workload.hpp"

#include <optional>

namespace archsim {

/// What the numbers of a file say: fp16 or bf16 where most weights are so, int8 where weights and activations
/// are quantised (int16 activations: int16 with 8-bit weights), else fp32. Nothing for a graph without
/// weights.
ARCHSIM_API std::optional<PrecisionConfig> format_of_file(const Graph& graph);

/// The format that is meant where none is named: bf16 for answers to prompts (checkpoints of language models
/// hold 16 bits a weight, and nobody serves them in 32), a file's own for a user's file, fp32 for the rest.
/// `strict_fp32` asks for fp32.
ARCHSIM_API PrecisionConfig usual_precision(const Workload& workload, bool strict_fp32 = false);

/// The conditions with the formats that are meant, storage of weights among them.
ARCHSIM_API Conditions settled(Conditions conditions, const Workload& workload);

} // namespace archsim
