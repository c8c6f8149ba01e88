#pragma once
// The command that serves a model with llama.cpp.

#include "archsim/run/catalogue.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace archsim {

/// "llama-server -m qwen3-8b-Q4_K_M.gguf -c 8192 -ngl 99". `device_layers` of `layers` are on the GPU; below
/// 0: no GPU. Of `expert_layers` the experts alone stay with the processor. Options: llama.cpp,
/// tools/server/README.md (-m, -c, -ngl, --n-cpu-moe); files are named after the types of llama.cpp,
/// tools/quantize/README.md.
std::string llama_command(std::string_view model, std::string_view format, std::int64_t context,
                          std::int64_t device_layers, std::int64_t layers, std::int64_t expert_layers = 0);

/// Bytes that the graph of a piece of `tokens` prompt tokens needs for its outputs: llama.cpp reserves it
/// with logits of every token (llama-context.cpp, graph_reserve), in f32, beside the normalised hidden states
/// that they are made of. Worked: Llama 3 8B, 512 tokens: 512 x (128,256 + 4,096) x 4 B = 258.5 MiB, as it
/// logs.
double llama_output_bytes(const LanguageModel& model, std::int64_t tokens);

} // namespace archsim
