#pragma once
// The formats of a question that names none.

#include "archsim/compare/conditions.hpp"
#include "archsim/graph/graph.hpp"
#include "archsim/run/workload.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace archsim {

/// The format by the numbers of a file: fp16 or bf16 where most weights are so, int8 where weights and
/// activations are quantised (int16 activations: int16 with 8-bit weights), else fp32. Nothing for a graph
/// without weights.
std::optional<PrecisionConfig> format_of_file(const Graph& graph);

/// That of weights which the checkpoint stores narrower than its types (archsim.Stored).
std::optional<Precision> stored_weights(const Graph& graph);

/// The formats of a checkpoint that quantises the activations of its products too (quantization_config): FP8
/// weights meet FP8 activations, and what lies between products, the cache among it unless the checkpoint
/// says otherwise, stays in bf16. Nothing where weights alone are narrow.
std::optional<PrecisionConfig> quantised_products(const Graph& graph);

/// The format that is meant where none is named: that of a checkpoint that quantises its products; bf16 for
/// other answers to prompts (checkpoints of language models hold 16 bits a weight, and nobody serves them in
/// 32), a file's own for a user's file, fp32 for the rest.
/// `strict_fp32` asks for fp32.
PrecisionConfig usual_precision(const Workload& workload, bool strict_fp32 = false);

/// The formats in which networks are deployed on a device under its stack, of fp32, fp16, bf16 and int8:
/// those that it multiplies as asked and that the stack does not call unusual. Which of them is usual for a
/// network is what Session::estimate finds fastest. Worked: a V100 under TensorRT fp32 and fp16, since it has
/// no int8 units.
std::vector<PrecisionConfig> deployed_on(const Machine& machine);

/// The conditions in the format in which the network takes the least time, of those that are deployed on the
/// machine's device, where they ask for each device's own; as they are elsewhere. `rate`: items per second
/// under conditions, 0 where there is no estimate.
Conditions in_fastest_format(const Machine& machine, Conditions conditions,
                             const std::function<double(const Conditions&)>& rate);

/// The conditions with the formats that are meant, storage of weights among them. That of a device stays
/// open.
Conditions settled(Conditions conditions, const Workload& workload);

// The meaning of a question that names a model and little else, by kind of model: an answer of 128 tokens to
// a prompt of 512 in the checkpoint's format under the device's stack for language models; of generators one
// image or video at the published number of steps; of everything else one pass. Formats follow from
// settled(), stacks from language_runtime(), steps from the sizes of the model.

/// The workload with the prompt of Prompt's defaults where a language model is asked for neither a prompt,
/// nor sizes, nor a single pass; any other as it is. Worked: llama-3-8b alone becomes 512 tokens in and 128
/// out; llama-3-8b with sequence=128 stays a pass over 128 tokens.
Workload usual_question(Workload workload);

} // namespace archsim
