#pragma once
// Which layers of a GGUF file attend within a window.

#include "checkpoint/decoder.hpp"
#include "checkpoint/gguf_header.hpp"

#include "archsim/core/finding.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace archsim::checkpoint {

/// What each layer sees: from the keys of the file, and from what llama.cpp knows by the
/// name of the architecture where they leave it open.
std::vector<LayerWindow> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                           std::size_t layers, const std::string& file,
                                           std::vector<Finding>& findings);

} // namespace archsim::checkpoint
