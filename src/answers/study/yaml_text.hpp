#pragma once
// YAML -> the JSON document that says the same, with the line and column of each of its values.

#include "archsim/core/finding.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// Where a value begins; both count from one.
struct TextPlace {
    std::size_t line = 1, column = 1;
};

/// A document and the places of its values by JSON pointer; a member of a mapping is at its key.
struct YamlDocument {
    nlohmann::json value;
    std::map<std::string, TextPlace, std::less<>> places;

    /// "line 3, column 5" of the value at a pointer, or of the nearest that is there around it.
    std::string place_of(std::string pointer) const;
};

/// Reads a file that holds one mapping. Plain scalars mean what YAML 1.2 says (its core schema: 8 is a
/// number, true a truth value, ~ nothing, everything else a text; "8" between quotes is a text). Null with a
/// finding (with line and column) when the file cannot be read, is not YAML, holds several documents, a key
/// twice, a key that is no text, more than 64 levels or 100 000 values.
std::optional<YamlDocument> parse_yaml_file(const std::string& file, std::vector<Finding>& findings);

/// True for the names of YAML files: .yaml, .yml.
bool is_yaml_file(const std::string& file);

} // namespace archsim
