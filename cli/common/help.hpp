#pragma once
// What --help prints: the options of the question itself, one line each, and the names of all others under
// their headings, on one screen; --help-all explains every one.

#include "common/flags.hpp"

#include <string>
#include <string_view>

namespace archsim::cli {

/// Whether every option is explained, or those outside of the first group are named only.
enum class HelpSize : std::uint8_t { screen, all };

/// "--batch-size N", "--format text|json": an option with what it takes.
std::string value_of_option(const OptionFacts& option);

/// The whole text, 100 columns wide. `footer` holds the examples, one per line, and what follows them.
std::string help_text(const Flags& flags, std::string_view footer, HelpSize size);

} // namespace archsim::cli
