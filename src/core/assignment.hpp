#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// The two sides of "NAME=VALUE", split at the first equals sign; nothing when a side is empty or the sign is
/// missing. split_assignment("batch=8") is {"batch", "8"}.
std::optional<std::pair<std::string_view, std::string_view>> split_assignment(std::string_view text);

/// The pieces between separators: split("4x,,2x", ',') is {"4x", "", "2x"}; an empty text is one empty piece.
std::vector<std::string> split(std::string_view text, char separator);

} // namespace archsim
