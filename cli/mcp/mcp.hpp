#pragma once
// archsim mcp: the tools for assistants, over the Model Context Protocol on standard input and output.

#include "common/flags.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

// The messages of the Model Context Protocol (JSON-RPC 2.0, one a line): a line in, a line out. It knows no
// tools but what it is given.

/// The longest line that is read: a request names models and numbers.
inline constexpr std::size_t kMostBytes = 4U << 20;

struct Served {
    std::string_view name, version, instructions;
    /// The array of tools, each with its name, description and inputSchema.
    std::function<const nlohmann::ordered_json&()> list;
    /// The result of a call: content, structuredContent, isError. Nothing for a tool that is none.
    std::function<std::optional<nlohmann::ordered_json>(const std::string& tool,
                                                        const nlohmann::ordered_json& arguments)>
        call;
    /// The sentence about a tool that is none.
    std::function<std::string(const std::string& tool)> unknown;
};

class Protocol {
  public:
    explicit Protocol(Served served) : served_(std::move(served)) {}

    /// The line that answers a line; nothing for notifications. `whole` false: the line was too long to be
    /// kept. Never throws for what a line holds.
    std::optional<std::string> answer(const std::string& line, bool whole);

  private:
    std::optional<nlohmann::ordered_json> answer_message(const nlohmann::ordered_json& message);
    nlohmann::ordered_json result_of(const std::string& method, const nlohmann::ordered_json& params);

    Served served_;
    std::string_view version_; ///< agreed on; empty: before initialize
};

// Keeps a tool's output in memory: for the time of its run the standard streams of the process lead there,
// and the protocol's own stay out of its reach.

struct Captured {
    int status = 0;
    std::string printed, said; ///< on standard output and standard error
};

/// The streams of the protocol, taken from the process for as long as this lives: standard input is empty and
/// standard output in memory.
class Streams {
  public:
    /// Throws InputError where the system has no memory for files.
    Streams();
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// The next line without its end, at most `most` bytes: of longer ones nothing is kept, and `whole` is
    /// false. Nothing at the end of the input.
    std::optional<std::string> read_line(std::size_t most, bool& whole);
    /// Writes a line to who asks. False where nobody reads any more.
    bool write_line(const std::string& line);
    /// Runs a function and catches what it prints.
    Captured capture(const std::function<int()>& run);

  private:
    int in_ = -1, out_ = -1;
#ifndef __EMSCRIPTEN__ // whose host keeps what is printed
    int err_ = -1, printed_ = -1, said_ = -1;
#endif
    std::string read_; ///< beyond the last line
    std::size_t at_ = 0;
    bool ended_ = false;
};

// A tool's output as the result of a call: sentences for who reads, the document for who computes, an error
// where there is no answer.

/// Arguments of a call beside the tool's own.
struct AnswerOptions {
    std::optional<std::int64_t> most_rows; ///< of every list in the document; 0: all; nothing: what fits
};

void add_answer_options(nlohmann::ordered_json& schema);
/// Takes them out of the arguments. Throws UsageError.
AnswerOptions take_answer_options(nlohmann::ordered_json& arguments);

/// The result of a run that printed JSON; `as_text` runs the same for its text where the document has no
/// verdict, and is empty for tools that print no JSON.
nlohmann::ordered_json answer_of(const Captured& run, const std::function<Captured()>& as_text,
                                 const AnswerOptions& options);

/// The result that only says what is wrong.
nlohmann::ordered_json failed(const std::string& sentence);

// A tool's flags as the input of an assistant's call: JSON Schema out; arguments in, as the words of a
// command line.

/// The flags of one tool that an assistant may give: those that decide what is answered, none that say how it
/// is printed or which files are written.
class ToolInput {
  public:
    explicit ToolInput(const Flags& flags);

    /// {"type": "object", "properties": {"hardware": {...}, "batch_size": {...}}}: of the arguments that the
    /// tool's first screen of help explains, or of every one, and then "additionalProperties": false.
    nlohmann::ordered_json schema(bool every) const;
    /// {"type": "object", "properties": {"schema": {"type": "string"}, "verdict": {"type": "object"}}}: the
    /// first level of the tool's usual document, whose whole schema the tool prints; empty where it writes
    /// none.
    const nlohmann::ordered_json& answer() const { return answer_; }
    /// The keys of the arguments that the first screen leaves out: words() takes them too.
    std::vector<std::string> further() const;
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
    nlohmann::ordered_json answer_;
};

struct ServedTool {
    std::string_view name, answers;
    int (*run)(int argc, char** argv);
};

int serve_assistants(int argc, char** argv, const std::vector<ServedTool>& tools);

} // namespace archsim::cli
