#pragma once
#include "archsim/core/export.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace archsim {

/// The two sides of "NAME=VALUE", split at the first equals sign; nothing when a side is empty or the sign is
/// missing. split_assignment("batch=8") is {"batch", "8"}.
ARCHSIM_API std::optional<std::pair<std::string_view, std::string_view>>
split_assignment(std::string_view text);

} // namespace archsim
