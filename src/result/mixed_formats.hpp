#pragma once
// Which number formats an answer compares: devices that lack the one asked for run another.

#include "archsim/compare/result.hpp"

#include <span>
#include <string>

namespace archsim {

/// The format that an estimate multiplies in, for sentences: "tf32", "int8", "w4a16". Of a stack that treats
/// convolutions apart from other products that of the convolutions, where the model has any; of a checkpoint
/// with narrow weights these, too.
std::string multiplied_format(const Result& result);

/// True when estimates multiply in different formats; bf16 and fp16 are one in this.
bool mixed_formats(std::span<const Result> results);

} // namespace archsim
