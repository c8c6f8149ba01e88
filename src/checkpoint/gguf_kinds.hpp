#pragma once
// GGUF files that hold no language model: what they are, in a sentence.

#include "checkpoint/gguf_header.hpp"

#include <string>

namespace archsim::checkpoint {

/// Throws InputError that says what the file is and what to give instead, where it is no decoder of text.
void refuse_other_kinds(const GgufHeader& header, const std::string& file);

} // namespace archsim::checkpoint
