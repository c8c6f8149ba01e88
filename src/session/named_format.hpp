#pragma once
// Types of GGUF files, in names and of formats; the checkpoint that a name means.

#include "archsim/run/session.hpp"

#include "archsim/core/precision.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace archsim {

/// "Q6_K" of "Qwen3-8B-Q6_K.gguf" and of "qwen3:8b-q6_K"; empty where a name says none.
std::string gguf_type_in(std::string_view name);
/// The type of file that a format stands for under llama.cpp, "Q4_K_M" for "int4" (tools/quantize/README.md);
/// empty: it has no such files.
std::string_view gguf_type_of(std::string_view format);
/// The formats of such a type, "Q3_K_M"; nothing for any other text.
std::optional<PrecisionConfig> gguf_format(std::string_view type);

/// The checkpoint that an engine loads for a model, as it was named: an id ("Qwen/Qwen3-8B-AWQ") or a path as
/// it is, of a configuration its folder; for a word the id of that name in the catalogue
/// ("qwen2.5-72b-instruct" is Qwen/Qwen2.5-72B-Instruct), else the first one of its model; else the word.
std::string checkpoint_of(const Session& session, std::string_view model);

} // namespace archsim
