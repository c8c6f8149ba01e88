#pragma once
// Models that llama-gguf-split wrote into several files.

#include "checkpoint/gguf_header.hpp"

#include <filesystem>

namespace archsim::checkpoint {

/// The header of a GGUF file with the tensors of all its parts, whichever of them is given; the others lie
/// beside it. Throws InputError naming the part that is missing.
GgufHeader read_gguf_parts(const std::filesystem::path& file);

} // namespace archsim::checkpoint
