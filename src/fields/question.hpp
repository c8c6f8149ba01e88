#pragma once
// What is asked of a device: the fields of a question, a row each, and what follows from the rows - texts,
// keys and command lines. Tools, studies, Python, C, the page and files of results read and write questions
// by these rows.

#include "archsim/compare/conditions.hpp"
#include "archsim/core/export.hpp"
#include "archsim/run/workload.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A workload under conditions.
struct Question {
    Workload workload;
    Conditions conditions;
};

/// What the texts of a field hold, which says what they are in JSON and in Python.
enum class FieldKind : std::uint8_t {
    whole, ///< a whole number
    truth, ///< "true"; absent: false
    text,  ///< a name, or one of QuestionField::choices
    sizes, ///< NAME=8, any number of them
    lists, ///< NAME=1,3,224, any number of them
    reals, ///< NAME=0.5, any number of them
    texts, ///< any number of texts
};

/// Which questions a field belongs to: tools that ask other kinds leave it out.
enum class FieldOf : std::uint8_t {
    any,
    pass,  ///< of one pass over a batch: how many items, and how large
    answer ///< of prompts and answers, and of the devices that share a language model
};

/// The language in which a field is named: by its flag ("--batch-size") or by its key ("batch_size").
enum class Spelling : std::uint8_t { flag, key };

/// One field of a question.
struct QuestionField {
    std::string key;                       ///< "batch_size": in JSON, studies, C and files of results
    std::vector<std::string> aliases = {}; ///< other keys: "batch"
    std::string flag = {};                 ///< "--batch-size"; empty: no tool takes it
    FieldKind kind = FieldKind::text;
    std::string help = {};     ///< what it says, as the tools explain it
    std::string value = {};    ///< what stands for its value there: "N"
    std::string fallback = {}; ///< the default in words, where help is to tell it
    std::string group = {};    ///< heading under which tools explain it; empty: the first
    std::vector<std::string> choices = {};
    FieldOf of = FieldOf::any;
    bool commas = false;            ///< a text may hold commas: "tp=4,pp=2"
    std::int64_t low = 0, high = 0; ///< of whole numbers; both 0: any
    /// What a question has there, one text or, of several, each; none: nothing.
    std::function<std::vector<std::string>(const Question&)> print = {};
    /// Puts a text there. Throws UsageError that names the field as `name`.
    std::function<void(const std::string& text, const std::string& name, Question&)> parse = {};
    /// What print() gives for a question that leaves the field out, as a rule of its other fields; empty:
    /// what a new question has.
    std::function<std::vector<std::string>(const Question&)> usual = {};

    /// Whether several texts may be given, which add up.
    bool many() const { return kind >= FieldKind::sizes; }
    /// Its flag or its key.
    const std::string& spelled(Spelling spelling) const { return spelling == Spelling::flag ? flag : key; }
};

/// Every field, in the order in which texts are put into a question.
ARCHSIM_API std::vector<const QuestionField*> question_fields();
/// Keys of the fields of some kinds of questions.
ARCHSIM_API std::vector<std::string> keys_of(std::initializer_list<FieldOf> kinds);
/// The field of that key, alias or flag; null where there is none.
ARCHSIM_API const QuestionField* find_question_field(std::string_view name);
/// The same; throws UsageError with the nearest keys.
ARCHSIM_API const QuestionField& question_field(std::string_view name);

/// A field that the library does not know, in the table while this lives: everything that reads or writes
/// questions then has it. Not thread-safe: add fields before work starts, remove them in reverse order. The
/// row must outlive it.
class ARCHSIM_API AddedField {
  public:
    /// Throws InputError when its key or flag is taken, or the row lacks a key, print or parse.
    explicit AddedField(const QuestionField& row);
    AddedField(const AddedField&) = delete;
    AddedField& operator=(const AddedField&) = delete;
    ~AddedField();

  private:
    const QuestionField& row_;
};

/// The texts that somebody gave for fields, in any order.
/// @code
/// QuestionTexts texts(Spelling::key);
/// texts.give("prompt_tokens", "2k");
/// texts.give("context", "4096");
/// assert(texts.question().workload.prompt->tokens == 2000);
/// assert(command_flags(texts.question()) == " --prompt-tokens 2000 --generate-tokens 128 --context 4096");
/// @endcode
class ARCHSIM_API QuestionTexts {
  public:
    /// `spelling`: how messages name fields.
    explicit QuestionTexts(Spelling spelling) : spelling_(spelling) {}

    /// Gives a text to the field of that key, alias or flag, in place of an earlier one unless the field
    /// takes several. Throws UsageError for a name or a text that cannot be, and leaves the texts as they
    /// were.
    void give(std::string_view name, std::string_view text);
    /// The same to a field; `named` is how messages call it.
    void give(const QuestionField& field, std::string_view text, const std::string& named);
    /// Whether a text was given.
    bool has(std::string_view name) const;
    /// The question they make, for the model that it is asked of. Throws UsageError for fields that cannot be
    /// together.
    Question question(const Model& model = {}) const;

  private:
    struct Given {
        std::string text, named;
    };
    Spelling spelling_;
    std::map<const QuestionField*, std::vector<Given>> given_;
};

/// A field and the texts that state what a question has there.
struct StatedField {
    const QuestionField* field = nullptr;
    std::vector<std::string> texts;
};
/// What differs from what is usual for the rest of the question.
ARCHSIM_API std::vector<StatedField> stated_fields(const Question& question);

/// " --batch-size 8 --precision int8 --dim sequence=128": what a tool must be given to ask the same of the
/// same model, for a POSIX shell, each flag with a space before it; but for the fields with the keys of
/// `without`.
ARCHSIM_API std::string command_flags(const Question& question,
                                      std::span<const std::string_view> without = {});

/// For a POSIX shell: bare where nothing is special, else in single quotes.
ARCHSIM_API std::string shell_quoted(std::string_view text);

/// What tells a question from another of the same model: every stated field but those of `without`, as a JSON
/// object with its keys in order. Questions with the same key have the same answer on the same device.
ARCHSIM_API std::string question_key(const Question& question,
                                     std::span<const std::string_view> without = {});

/// Whether two questions, of the same model, are the same in everything that an answer depends on.
ARCHSIM_API bool same_question(const Question& a, const Question& b);

} // namespace archsim
