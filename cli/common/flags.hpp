#pragma once
// The flags of a tool: declared here, parsed by CLI11 behind flags.cpp alone, because every file that reads
// CLI11 compiles ten seconds longer.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim::cli {

enum class ValueKind : std::uint8_t { truth, text, whole, real };

/// One option of a parser, in the terms that manuals, completions and schemas need.
struct OptionFacts {
    std::vector<std::string> flags; ///< "--hardware"; "-o", "--output"; empty for a positional one
    std::string name;               ///< without dashes: "hardware", "MODEL"
    std::string description, fallback, group;
    std::string values;               ///< shell command whose output lists the values; empty: none
    std::vector<std::string> choices; ///< fixed values
    std::string value;                ///< what stands for its value: "DEVICE"
    ValueKind kind = ValueKind::text;
    bool takes_value = false, many = false, files = false, required = false;
    bool kept_back = false; ///< from assistants: it writes files, or is of the terminal alone
    bool number = false;    ///< its text is a number, which may have letters ("8k") or a unit
};

enum class Case : std::uint8_t { exact, ignored };

/// An option just declared, to be narrowed: flags.add_option(...).one_of({"a", "b"}).in_group("Output").
class Option {
  public:
    /// Wraps the parser's own option, and the options that are kept back or numbers; only Flags makes one.
    Option(void* option, std::set<const void*>* kept_back, std::set<const void*>* numbers)
        : option_(option), kept_back_(kept_back), numbers_(numbers) {}

    Option& required();
    /// Help shows the value that the variable has now.
    Option& show_default();
    Option& one_of(const std::vector<std::string>& values, Case letters = Case::exact);
    Option& within(std::int64_t low, std::int64_t high);
    /// The word for its value in help: "TIME"; choices with bars between them: "csv|json". MODEL, DEVICE,
    /// STACK and DEPLOYMENT are what the database has of these, which shells complete; of several DEVICE or
    /// STACK one word may hold a list.
    Option& value_named(const std::string& word);
    /// Its values name files, which shells complete.
    Option& file();
    /// The same of files that the tool writes, which is kept back from assistants.
    Option& written();
    /// An assistant is not given it: it writes, or is of the terminal alone.
    Option& kept_back();
    /// Its text is a number, with letters or a unit or without.
    Option& number();
    /// Heading under which help lists it.
    Option& in_group(const std::string& group);
    /// One word may hold several values: "fp16,int8".
    Option& list();
    Option& expects(int least, int most);
    Option& expects(int count) { return expects(count, count); }

  private:
    void* option_;
    std::set<const void*>* kept_back_;
    std::set<const void*>* numbers_;
};

class Flags {
  public:
    /// `footer` follows the list of options in --help.
    Flags(const std::string& tool, const std::string& description, const std::string& footer,
          const std::string& version);
    ~Flags();
    Flags(const Flags&) = delete;
    Flags& operator=(const Flags&) = delete;

    /// An option with a value, or several for a vector; a name without dashes is positional. The variable
    /// keeps its value when the option is absent. T: std::string, std::int64_t, int, unsigned, std::size_t,
    /// double, std::optional<double>, std::vector of std::string and of std::int64_t.
    template <class T>
    Option add_option(const std::string& name, T& variable, const std::string& help);
    /// The same with Option::value_named(value).
    template <class T>
    Option add_option(const std::string& name, T& variable, const std::string& help,
                      const std::string& value) {
        return add_option(name, variable, help).value_named(value);
    }
    /// A file that the tool writes beside its answer.
    Option add_written(const std::string& name, std::string& variable, const std::string& help) {
        return add_option(name, variable, help).written();
    }
    /// --top: how many of something; 0: all.
    template <class T>
    Option add_top(T& variable, const std::string& help) {
        return add_option("--top", variable, help).within(0, 1 << 20).show_default();
    }
    /// An option whose value may be left out: set and empty then.
    Option add_optional_value(const std::string& name, std::optional<std::string>& variable,
                              const std::string& help);
    Option add_flag(const std::string& name, bool& variable, const std::string& help);
    /// Help lists what is declared from here on under this heading; empty: under the usual one.
    void group(std::string heading) { group_ = std::move(heading); }
    /// Two options declared before that cannot be given together.
    void exclude(const std::string& flag, const std::string& other);
    /// An option beside which none of those declared before it can be given but these.
    void exclude_all_but(const std::string& flag, const std::vector<std::string>& beside);
    void remove(const std::string& flag);
    /// Whether an option stood on the command line.
    bool has(const std::string& flag) const;
    /// A check of the values together, before the tool does anything: `rule` throws UsageError.
    void add_rule(std::function<void()> rule) { rules_.push_back(std::move(rule)); }
    /// Throws what the first broken rule throws.
    void check_rules() const {
        for (const auto& rule : rules_)
            rule();
    }

    /// Reads a command line. A status when the tool ends here: help and version are printed (0), or what is
    /// wrong (1).
    std::optional<int> parse(int argc, char** argv);

    /// A JSON document that the tool writes, by its name, and what gives the document's schema.
    struct Document {
        std::string name;
        nlohmann::ordered_json (*schema)();
    };
    /// Says that the tool writes it; the first is the usual one.
    void add_document(std::string name, nlohmann::ordered_json (*schema)()) {
        documents_.push_back({std::move(name), schema});
    }
    const std::vector<Document>& documents() const { return documents_; }

    /// "compare_models".
    const std::string& tool() const;
    /// The sentence under its name in --help.
    std::string description() const;
    /// Every visible option in the order of declaration, `--help` and `--version` too.
    std::vector<OptionFacts> facts() const;

  private:
    Option made(void* option);
    /// Name of the first positional option; empty: there is none.
    std::string positional_key() const;
    /// Says which flag does not exist, with the nearest that does.
    std::string what_was_meant(const std::vector<std::string>& unexpected,
                               const std::vector<std::string>& arguments) const;

    struct Parser;
    std::unique_ptr<Parser> parser_;
    std::string group_;
    std::vector<std::function<void()>> rules_;
    std::vector<Document> documents_;
};

/// The flag of a key of a document or a configuration: that name ("batch_size"), that of the question's field
/// with the key ("dims"), or what others call so ("models"); "--KEY" where the tool has none.
std::string flag_of_key(std::string_view key, const std::vector<OptionFacts>& options);

/// Whether a value of a document says that nothing is asked: null, false, an empty list or object.
bool asks_nothing(const nlohmann::json& value);

/// The flag that a word means in this tool: the one that other tools call so (`--dtype` for `--precision`),
/// else the nearest by its letters; empty where none is near.
std::string meant_flag(const std::string& flag, const std::vector<OptionFacts>& options);

/// The tool that has a flag which this one lacks, for flags that people try here: "serve_model" of --users;
/// else empty.
std::string tool_with_flag(const std::string& flag, const std::vector<OptionFacts>& options);

/// Why no tool has a flag that servers of language models have, or where a changed device is asked for; empty
/// where nobody knows.
std::string not_estimated(const std::string& flag);

/// Why the words behind a flag were not taken: "--batch-sweep takes one value; if it is a list, with commas:
/// 1,8,64", or "--sensitivity takes no value". Empty where no flag stands before `word` in the arguments.
std::string why_unexpected(const std::vector<std::string>& arguments, const std::string& word,
                           const std::vector<OptionFacts>& options);

// --config FILE: options from a JSON object or a TOML file (FILE.toml), so that a question can be kept and
// asked again.
//
//   {"model": "resnet50", "hardware": ["H100", "A100"], "precision": "fp16", "batch-size": 8}
//
//   model = "resnet50"
//   hardware = ["H100", "A100"]   # a comment
//   precision = "fp16"
//   verbose = true

/// The arguments with `--config FILE` replaced by what the file states; options given on the command line win
/// over the file's. `positional` is the key whose values stand without a flag; empty: none does. The
/// `request` of a document is such a file, too: sizes may be an object, null and empty values ask nothing,
/// and an object under a key of its own ("limits") is a group of options. Throws InputError for anything
/// else.
std::vector<std::string> with_config(std::span<char* const> arguments, const std::string& positional,
                                     const std::function<std::vector<OptionFacts>()>& options);

struct ConfigLine {
    std::string key; ///< with the tables it stands in: "output.format"
    std::vector<std::string> values;
};
/// The lines of a TOML file as the parser of the command line reads them (flags.cpp). Throws InputError that
/// names `file`.
std::vector<ConfigLine> read_toml(std::istream& in, const std::string& file);

// --help prints the options of the question itself, one line each, and the names of all others under their
// headings, on one screen; --help-all explains every one.

/// Whether every option is explained, or those outside of the first group are named only.
enum class HelpSize : std::uint8_t { screen, all };

/// "--batch-size N", "--format text|json": an option with what it takes.
std::string value_of_option(const OptionFacts& option);

/// The whole text, 100 columns wide. `footer` holds the examples, one per line, and what follows them.
std::string help_text(const Flags& flags, std::string_view footer, HelpSize size);

// The options of a parser as a manual page and as completions for shells, and the JSON Schema of the tool's
// documents: TOOL --help-format man|bash|zsh|fish|schema. The build writes them to files; they cannot differ
// from what the tool parses and writes.

struct ExitMeaning {
    int status;
    std::string meaning;
};
const std::vector<ExitMeaning>& exit_meanings();

/// Empty for a format that is not known. "schema" is that of the usual document, "schema:NAME" of another.
std::string formatted_help(const Flags& flags, std::string_view format, const std::string& examples);

} // namespace archsim::cli
