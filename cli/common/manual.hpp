#pragma once
// What a parser knows about its options as a manual page and as completions for shells, and the JSON Schema
// of the tool's documents: TOOL --help-format man|bash|zsh|fish|schema. The build writes them to files; they
// cannot differ from what the tool parses and writes.

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
/// The exit statuses of every tool, in order.
const std::vector<ExitMeaning>& exit_meanings();

/// Empty for a format that is not known. "schema" is that of the usual document, "schema:NAME" of another.
std::string formatted_help(const Flags& flags, std::string_view format, const std::string& examples);

} // namespace archsim::cli
