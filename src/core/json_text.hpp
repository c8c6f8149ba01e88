#pragma once
// Text and files -> JSON documents to change and to hand on; what is only read is quicker as a JsonDocument.

#include "archsim/core/finding.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Parses a text; `file` stands for it in findings. Null with a finding (with line and column) when it is not
/// a JSON object.
std::optional<nlohmann::json> parse_json_text(std::string_view text, const std::string& file,
                                              std::vector<Finding>& findings);

/// Parses a file; null with a finding (with line and column) when it cannot be read or is not a JSON object.
std::optional<nlohmann::json> parse_json_file(const std::string& file, std::vector<Finding>& findings);

} // namespace archsim
