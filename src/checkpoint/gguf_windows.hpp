#pragma once
// Which layers of a GGUF file attend within a window.

#include "checkpoint/gguf_header.hpp"

#include "archsim/core/finding.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace archsim::checkpoint {

/// Positions that each layer sees, 0 for all: from the keys of the file, and from what llama.cpp knows by the
/// name of the architecture where they leave it open.
std::vector<std::int64_t> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                            std::size_t layers, const std::string& file,
                                            std::vector<Finding>& findings);

} // namespace archsim::checkpoint
