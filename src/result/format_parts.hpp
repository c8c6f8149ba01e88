#pragma once
// Formats as flags, files and documents name them. Those that have no name of their own go part by part:
// "compute=fp16+activations=fp16+weights=int4+kv_cache=fp16+head_bits=6". No commas, which part lists of
// formats.

#include "archsim/compare/conditions.hpp"
#include "archsim/compare/result.hpp"

#include <span>
#include <string>
#include <string_view>

namespace archsim {

/// One number format by its name. Throws UsageError that names what asks as `name`.
Precision format_named(const std::string& text, const std::string& name);
std::string in_parts(const PrecisionConfig& scheme);
/// The formats of such a text. Throws UsageError likewise.
PrecisionConfig of_parts(const std::string& text, const std::string& name);

/// The formats that a name means ("fp16", "w4a16", parts). Throws UsageError naming `flag`, where it was
/// given.
PrecisionConfig precision_named(std::string_view name, std::string_view flag = "precision");
/// Takes a name where formats are asked for: a format, or "usual": each device's own. Throws likewise.
void ask_precision(Conditions& conditions, std::string_view name, std::string_view flag = "precision");

/// The format that is multiplied in, for sentences: "tf32", "int8"; with weights that are narrower than that,
/// also those that a checkpoint has: "w4a16". `more`: bits of a weight beyond its format's (Q6_K has 6.56).
std::string multiplied_format(const PrecisionConfig& runs, std::optional<Precision> stored, double more);
/// That of an estimate; of a stack that treats convolutions apart from other products that of the
/// convolutions, where the model has any.
std::string multiplied_format(const Result& result);

/// True when estimates multiply in different formats; bf16 and fp16 are one in this.
bool mixed_formats(std::span<const Result> results);

} // namespace archsim
