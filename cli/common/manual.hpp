#pragma once
// What a parser knows about its options as a manual page and as completions for shells: TOOL --help-format
// man|bash|zsh|fish. The build writes them to files; they cannot differ from what the tool parses.

#include "common/flags.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

/// A status of a process and what it says.
struct ExitMeaning {
    int status;
    std::string meaning;
};
/// Those of every tool, in order.
const std::vector<ExitMeaning>& exit_meanings();

/// Empty for a format that is not known.
std::string formatted_help(const Flags& flags, std::string_view format, const std::string& examples);

} // namespace archsim::cli
