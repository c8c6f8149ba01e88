#pragma once
// --config FILE: options from a JSON object, so that a question can be kept and asked again.
//
//   {"model": "resnet50", "hardware": ["H100", "A100"], "precision": "fp16", "batch-size": 8, "verbose":
//   true}

#include <span>
#include <string>
#include <vector>

namespace archsim::cli {

/// The arguments with `--config FILE` replaced by what the file states; options given on the command line win
/// over the file's. `positional` is the key whose values stand without a flag; empty: none does. Throws
/// InputError for a file that is not an object of texts, numbers, truth values and lists of these.
std::vector<std::string> with_config(std::span<char* const> arguments, const std::string& positional);

} // namespace archsim::cli
