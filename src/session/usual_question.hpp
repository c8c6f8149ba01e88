#pragma once
// What a question means that names a model and little else, by kind of model:
//
//   language model             an answer of 128 tokens to a prompt of 512, in the format of the checkpoint,
//   under the
//                              device's stack for language models
//   image or video generator   one image or video at the published number of steps
//   everything else            one pass in the format that is usual for each device
//
// Formats follow from settled(), stacks from language_runtime(), steps from the sizes of the model.

#include "archsim/run/workload.hpp"

namespace archsim {

/// The workload with the prompt of Prompt's defaults where a language model is asked for neither a prompt,
/// nor sizes, nor a single pass; any other as it is. Worked: llama-3-8b alone becomes 512 tokens in and 128
/// out; llama-3-8b with sequence=128 stays a pass over 128 tokens.
Workload usual_question(Workload workload);

} // namespace archsim
