#pragma once
// What llama.cpp allocates beside weights and cache.

#include "archsim/core/export.hpp"
#include "archsim/run/catalogue.hpp"

namespace archsim {

/// Bytes that the graph of a piece of `tokens` prompt tokens needs for its outputs: llama.cpp reserves it
/// with logits of every token (llama-context.cpp, graph_reserve), in f32, beside the normalised hidden states
/// that they are made of. Worked: Llama 3 8B, 512 tokens: 512 x (128,256 + 4,096) x 4 B = 258.5 MiB, as it
/// logs.
ARCHSIM_API double llama_output_bytes(const LanguageModel& model, std::int64_t tokens);

} // namespace archsim
