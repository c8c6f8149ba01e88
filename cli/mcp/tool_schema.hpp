#pragma once
// A tool's flags as the input of an assistant's call: JSON Schema out; arguments in, as the words of a
// command line.

#include "common/flags.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace archsim::cli {

/// The flags of one tool that an assistant may give: those that decide what is answered, none that say how it
/// is printed or which files are written.
class ToolInput {
  public:
    explicit ToolInput(const Flags& flags);

    /// {"type": "object", "properties": {"hardware": {...}, "batch_size": {...}}}: of the arguments that the
    /// tool's first screen of help explains, or of every one, and then "additionalProperties": false.
    nlohmann::ordered_json schema(bool every) const;
    /// The keys of the arguments that the first screen leaves out: words() takes them too.
    std::vector<std::string> further() const;
    /// Whether the tool has a flag.
    bool has(std::string_view name) const;
    /// The sentence that the tool says of itself.
    const std::string& description() const { return description_; }

    /// The words after the tool's name for the members of an object: {"hardware": ["H100"], "batch_size": 8}
    /// are
    /// --hardware=H100 --batch-size=8. Texts that are paths must lead into `folder`. Throws UsageError that
    /// names the argument, with the nearest one for a name that is none.
    std::vector<std::string> words(const nlohmann::ordered_json& arguments,
                                   const std::filesystem::path& folder) const;

  private:
    std::vector<OptionFacts> options_; ///< that may be given
    std::vector<std::string> all_;     ///< names of every flag, for has()
    std::string description_;
};

} // namespace archsim::cli
