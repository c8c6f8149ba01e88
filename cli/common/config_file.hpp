#pragma once
// --config FILE: options from a JSON object or a TOML file (FILE.toml), so that a question can be kept and
// asked again.
//
//   {"model": "resnet50", "hardware": ["H100", "A100"], "precision": "fp16", "batch-size": 8}
//
//   model = "resnet50"
//   hardware = ["H100", "A100"]   # a comment
//   precision = "fp16"
//   verbose = true

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace archsim::cli {

/// The arguments with `--config FILE` replaced by what the file states; options given on the command line win
/// over the file's. `positional` is the key whose values stand without a flag; empty: none does. Throws
/// InputError for a file that is not an object of texts, numbers, truth values and lists of these.
std::vector<std::string> with_config(std::span<char* const> arguments, const std::string& positional);

/// One line of a TOML file.
struct ConfigLine {
    std::string key; ///< with the tables it stands in: "output.format"
    std::vector<std::string> values;
};
/// The lines of a TOML file as the parser of the command line reads them (flags.cpp). Throws InputError that
/// names `file`.
std::vector<ConfigLine> read_toml(std::istream& in, const std::string& file);

} // namespace archsim::cli
