#pragma once
// The text of a JSON document, as every answer prints it.

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace archsim {

/// Indented by two; bytes that are no UTF-8, which names from files may hold, become the replacement
/// character.
std::string json_text(const nlohmann::ordered_json& document);
/// The same with a newline at its end: a whole file.
std::string document_text(const nlohmann::ordered_json& document);

} // namespace archsim
