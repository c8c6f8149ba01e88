#pragma once
// What --help prints: the options of the question itself, one line each, and the names of all others under
// their headings, on one screen; --help-all explains every one.

#include "common/flags.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

/// Whether every option is explained, or those outside of the first group are named only.
enum class HelpSize : std::uint8_t { screen, all };

/// "--batch-size N", "--format text|json": an option with what it takes.
std::string value_of_option(const OptionFacts& option);

/// The whole text, 100 columns wide. `footer` holds the examples, one per line, and what follows them.
std::string help_text(const Flags& flags, std::string_view footer, HelpSize size);

// What a parser knows about its options as a manual page and as completions for shells, and the JSON Schema
// of the tool's documents: TOOL --help-format man|bash|zsh|fish|schema. The build writes them to files; they
// cannot differ from what the tool parses and writes.

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
