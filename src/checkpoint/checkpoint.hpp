#pragma once
// Language models as people publish them: a Hugging Face config.json, the folder of a checkpoint (config and
// the headers of its safetensors files), a GGUF file. Headers only; payloads of weights are never read. The
// result is the graph that an ONNX export with a cache of keys and values would have.

#include "archsim/core/budget.hpp"
#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace archsim {

/// The facts that a checkpoint states of a language model.
struct CheckpointFacts {
    std::string architecture; ///< as the file names it ("Qwen3ForCausalLM")
    std::int64_t layers = 0, hidden = 0, vocabulary = 0, max_context = 0;
    std::int64_t heads = 0, kv_heads = 0, head_size = 0; ///< of the first layer with attention; 0: none
    std::int64_t experts = 0, active_experts = 0;        ///< 0: dense
    double vision_parameters = 0;     ///< of a vision tower: in memory, and no part of a generated token
    double prediction_parameters = 0; ///< of multi-token heads, which only speculative decoding loads
    std::string quantization;         ///< method of quantization_config or GGUF file type; empty: none
    std::string weight_format;        ///< of most weights as stored ("bf16", "fp8", "int4")
};

/// A checkpoint as a graph: inputs `input_ids` [batch, sequence] and a cache per layer, output `logits` of
/// the last token. Sizes `batch`, `sequence` and `past_sequence` are symbolic.
struct Checkpoint {
    CheckpointFacts facts;
    Graph graph;                              ///< `findings` hold what the reader did not understand
    std::map<std::string, std::int64_t> dims; ///< defaults of the symbolic sizes
};

/// True for a folder with a config.json, a file that ends in .gguf or .safetensors, and a .json file.
bool is_checkpoint(const std::filesystem::path& path);

/// Reads a config.json, the folder of a checkpoint, a .safetensors file beside its config, or a .gguf file.
/// A field that changes sizes and is not known becomes a finding of the graph. Throws InputError with file
/// and field when the file is no description of a decoder, or takes more than `budget` allows.
Checkpoint read_checkpoint(const std::filesystem::path& path, const Budget& budget = {});

/// The same from the text of a config.json; `file` is what findings name.
Checkpoint read_checkpoint_config(std::string_view text, const std::string& file, const Budget& budget = {});

namespace checkpoint {
/// Bits per weight of a type of GGUF blocks, "q4_k"; 0 when it is not known.
double ggml_bits(std::string_view type);
} // namespace checkpoint

} // namespace archsim
