#pragma once
// Formats that have no name of their own, part by part:
// "compute=fp16+activations=fp16+weights=int4+kv_cache=fp16+head_bits=6". No commas, which part lists of
// formats.

#include "archsim/core/precision.hpp"

#include <string>

namespace archsim {

/// One number format by its name. Throws UsageError that names what asks as `name`.
Precision format_named(const std::string& text, const std::string& name);
/// Every part in a text.
std::string in_parts(const PrecisionConfig& scheme);
/// The formats of such a text. Throws UsageError likewise.
PrecisionConfig of_parts(const std::string& text, const std::string& name);

} // namespace archsim
