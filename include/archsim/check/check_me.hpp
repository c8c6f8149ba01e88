#pragma once
// The command that measures what an estimate says, in the software stack that it names.

#include "archsim/check/types.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// How one stack measures, as hardware_db/check_me.json says it.
struct CheckTemplate {
    std::string command; ///< with {placeholders}; empty: nobody outside the vendor can measure
    std::string why_not; ///< the reason then
    std::map<std::string, std::string> precision; ///< words of the command by format
    std::string reads;                            ///< reader of its output; empty: none
    std::string note, cite;
};

/// What the placeholders of a command stand for beside the result.
struct CheckInputs {
    std::string onnx; ///< path of the model's file
    std::string name;
    std::map<std::string, std::string> shapes; ///< input -> "1x3x224x224"
    long batch = 1;
    long prompt_tokens = 512, generate_tokens = 128;
};

/// The stacks' commands, read from a file.
class ARCHSIM_API CheckCommands {
  public:
    /// Throws InputError when the file cannot be read or an entry is neither a command nor a reason.
    explicit CheckCommands(const std::filesystem::path& file);
    /// Null where the file says nothing of this stack.
    const CheckTemplate* find(std::string_view runtime) const;
    /// The command for one estimate; its stack must be known (Result::runtime).
    CheckCommand command(const Result& result, const CheckInputs& inputs) const;

  private:
    std::map<std::string, CheckTemplate, std::less<>> checks_;
    std::string file_;
};

/// Name, file and input shapes of the model of a result, for the placeholders.
ARCHSIM_API CheckInputs check_inputs(const ModelFacts& model);

} // namespace archsim
