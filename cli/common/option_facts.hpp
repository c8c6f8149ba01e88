#pragma once
// One option of a parser, in the terms that manuals and completions need.

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

struct OptionFacts {
    std::vector<std::string> flags; ///< "--hardware"; "-o", "--output"; empty for a positional one
    std::string name;               ///< without dashes: "hardware", "MODEL"
    std::string description, fallback, group;
    std::string values;               ///< shell command whose output lists the values; empty: none
    std::vector<std::string> choices; ///< fixed values
    bool takes_value = false, many = false, files = false, required = false;
};

/// Every visible option in the order of the parser, `--help` and `--version` too.
std::vector<OptionFacts> options_of(const CLI::App& app);

} // namespace archsim::cli
