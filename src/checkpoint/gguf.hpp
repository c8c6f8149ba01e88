#pragma once
// Headers of GGUF files (ggml/docs/gguf.md): metadata, and name, shape and type of every tensor. Payloads are
// never read.

#include "checkpoint/decoder.hpp"

#include <filesystem>

namespace archsim::checkpoint {

/// The decoder of a GGUF file, with the bits of every tensor. Throws InputError naming the file.
Decoder read_gguf(const std::filesystem::path& file);

/// Bits per weight of a ggml type, 0 when it is not known.
double ggml_bits(std::uint32_t type);

} // namespace archsim::checkpoint
