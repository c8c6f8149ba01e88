#pragma once
// What runs on a machine, as report blocks and as a JSON document.
//
//   RTX-4090: 61 of 154 language models run, with a context of 8192.
//   Largest: qwen3-32b in int4, 38.1 tokens/s. Fastest of 7 billion parameters and more: ...

#include "answers/local/local_models.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/catalogue.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace archsim {

/// How a list of models is shown.
struct LocalView {
    bool by_speed = false;     ///< fastest first; else largest first
    bool every_format = false; ///< each that runs; else the widest of a model
};
/// CSV has every model in every format.
Report describe(const LocalAnswer& answer, const LocalView& view, Format format);
/// Everything, keys with units.
std::string to_json(const LocalAnswer& answer, const LocalView& view);

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
