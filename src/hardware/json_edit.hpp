#pragma once
// Editing a JSON file as text, so that what is not changed keeps its layout.

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace archsim {

/// The layout of the database: one member a line, objects and arrays in one line where they fit. `indent` is
/// that of the line on which the value begins, `used` the columns before the value. `apart`: what holds a
/// further object never stands in one line.
std::string laid_out(const nlohmann::ordered_json& value, std::size_t indent, std::size_t used,
                     bool apart = false);

/// `text`, a JSON object, with the value of its member `key` replaced by `value`; a member that is absent is
/// added at the end.
std::string with_member(const std::string& text, std::string_view key, const nlohmann::ordered_json& value);

} // namespace archsim
