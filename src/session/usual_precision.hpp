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

/// The formats of a checkpoint that quantises the activations of its products too (quantization_config): FP8
/// weights meet FP8 activations, and what lies between products, the cache among it unless the checkpoint
/// says otherwise, stays in bf16. Nothing where weights alone are narrow.
ARCHSIM_API std::optional<PrecisionConfig> quantised_products(const Graph& graph);

/// The format that is meant where none is named: that of a checkpoint that quantises its products; bf16 for
/// other answers to prompts (checkpoints of language models hold 16 bits a weight, and nobody serves them in
/// 32), a file's own for a user's file, fp32 for the rest.
/// `strict_fp32` asks for fp32.
ARCHSIM_API PrecisionConfig usual_precision(const Workload& workload, bool strict_fp32 = false);

/// The format that a device is usually deployed in: the one that it multiplies fastest under its stack, of
/// fp32, fp16, bf16 and int8; of equally fast ones the first of these. Worked: an H100 under TensorRT int8
/// (1979 against 989 TFLOPS), a TPU v4 bf16 (275 in both), a V100 fp16, which has no int8 units.
ARCHSIM_API PrecisionConfig usual_on(const Machine& machine);

/// The conditions in the format that is usual on the machine's device, where they ask for each device's own.
ARCHSIM_API Conditions in_format_of(const Machine& machine, Conditions conditions);

/// The conditions with the formats that are meant, storage of weights among them. That of a device stays
/// open.
ARCHSIM_API Conditions settled(Conditions conditions, const Workload& workload);

} // namespace archsim
