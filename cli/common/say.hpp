#pragma once
// Words to whoever runs a tool. Standard error may be closed, full or a broken pipe: then nobody is told, and
// the status is what it would have been.

#include <fmt/format.h>

#include <string>
#include <utility>

namespace archsim::cli {

/// Writes lines to standard error, without control characters, commands of CI and more than some pages.
void say_text(std::string text) noexcept;

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace archsim::cli
