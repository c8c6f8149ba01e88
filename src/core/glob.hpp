#pragma once
// Names with stars, as shells write them.

#include <string_view>

namespace archsim {

/// Whether `name` is what a pattern stands for: `*` any characters, `?` one, `[a-c]` and `[!a-c]` one of a
/// set, a backslash the next character as it is. At worst the product of both lengths in steps.
bool matches_glob(std::string_view pattern, std::string_view name);

} // namespace archsim
