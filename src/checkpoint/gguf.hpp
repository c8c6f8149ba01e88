#pragma once
// Headers of GGUF files (ggml/docs/gguf.md): metadata, and name, shape and type of every tensor. Payloads are
// never read.

#include "checkpoint/decoder.hpp"

#include <filesystem>
#include <string>

namespace archsim::checkpoint {

/// The decoder of a GGUF file and its further parts, with the bits of every tensor. Throws InputError naming
/// the file and, where it holds no decoder, what it is.
Decoder read_gguf(const std::filesystem::path& file);

/// Throws InputError when the graph of the decoder has not the parameters that the header's tensors add up
/// to: a part of a model is no answer.
void check_gguf_parameters(const Decoder& decoder, const Graph& graph, const std::string& file);

} // namespace archsim::checkpoint
