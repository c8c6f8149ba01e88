#pragma once
// The command that serves a model with llama.cpp.

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

} // namespace archsim
