#pragma once
// Names of networks that say in what format they are stored, as repositories and files do.

#include "archsim/run/catalogue.hpp"

#include <optional>
#include <string_view>

namespace archsim {

/// "llama3.1:8b": a file in Q4_K_M unless its tag says another type (ollama.com/library, tags).
inline bool is_ollama_name(std::string_view name) {
    return name.find(':') != name.npos && name.find('/') == name.npos;
}

/// The network of the catalogue that a name means together with the format at its end: "nvidia/Llama-3.1-8B-
/// Instruct-FP8" is llama-3.1-8b in fp8 (CatalogueEntry::products), "Qwen3-8B-Q4_K_M.gguf" qwen3-8b in int4
/// and a file of llama.cpp's kind. Owners of repositories are not looked at. Nothing where no network is
/// called so, or the name says no format.
std::optional<CatalogueEntry> entry_in_format(const Catalogue& catalogue, std::string_view name);

} // namespace archsim
