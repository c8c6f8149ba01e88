#pragma once
// Which flag of a tool somebody meant who wrote another: in: what was written, the tool's flags; out: a hint.

#include "common/flags.hpp"

#include <string>
#include <vector>

namespace archsim::cli {

/// The flag that a word means in this tool: the one that other tools call so (`--dtype` for `--precision`),
/// else the nearest by its letters; empty where none is near.
std::string meant_flag(const std::string& flag, const std::vector<OptionFacts>& options);

/// The tool that has a flag which this one lacks, for flags that people try here: "serve_model" of --users;
/// else empty.
std::string tool_with_flag(const std::string& flag, const std::vector<OptionFacts>& options);

/// Why no tool has a flag that servers of language models have; empty where nobody knows.
std::string not_estimated(const std::string& flag);

/// Why the words behind a flag were not taken: "--batch-sweep takes one value; if it is a list, with commas:
/// 1,8,64", or "--sensitivity takes no value". Empty where no flag stands before `word` in the arguments.
std::string why_unexpected(const std::vector<std::string>& arguments, const std::string& word,
                           const std::vector<OptionFacts>& options);

} // namespace archsim::cli
