#pragma once
// The question to a device: the fields of a question, a row each, and what follows from the rows - texts,
// keys and command lines. Tools, studies, Python, C, the page and files of results read and write questions
// by these rows.

#include "archsim/compare/conditions.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/run/workload.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

// One field of something that is asked (a question of a device, a request to a server): its names, what it
// says, and how a text goes in and comes out. Tools, studies, Python, C, the page and files of results are
// made from these rows.

/// The kind of a field's texts, which says what they are in JSON and in Python.
enum class FieldKind : std::uint8_t {
    whole, ///< a whole number
    truth, ///< "true"; absent: false
    real,  ///< a number, or a text of one with a unit
    text,  ///< a name, a number with a unit, or one of Field::choices
    file,  ///< the name of a file, read where the texts become what is asked
    sizes, ///< NAME=8, any number of them
    lists, ///< NAME=1,3,224, any number of them
    reals, ///< NAME=0.5, any number of them
    texts, ///< any number of texts
};

/// Which questions a field belongs to: tools that ask other kinds leave it out.
enum class FieldOf : std::uint8_t {
    any,
    pass,   ///< of one pass over a batch: how many items, and how large
    answer, ///< of prompts and answers, and of the devices that share a language model
    duty    ///< of how often a device works: tools that rank and limit results take it
};

/// The language in which a field is named: by its flag ("--batch-size") or by its key ("batch_size").
enum class Spelling : std::uint8_t { flag, key };

/// One field of an `Asked`.
template <class Asked>
struct Field {
    std::string key;                       ///< "batch_size": in JSON, studies, C and files of results
    std::vector<std::string> aliases = {}; ///< other keys and flags: "batch"
    std::string flag = {};                 ///< empty: that of the key, "--batch-size"
    bool of_tools = true;                  ///< false: no tool takes it, and there is no flag
    FieldKind kind = FieldKind::text;
    std::string help = {};     ///< what it says, as the tools explain it
    std::string value = {};    ///< what stands for its value there: "N"
    std::string fallback = {}; ///< the default in words, where help is to tell it
    std::string group = {};    ///< heading under which tools explain it; empty: the first
    std::vector<std::string> choices = {};
    FieldOf of = FieldOf::any;
    bool commas = false;            ///< a text may hold commas: "tp=4,pp=2"
    std::int64_t low = 0, high = 0; ///< of whole numbers; both 0: any
    /// The texts that are asked there, one or, of several, each; none: nothing, or what a file holds.
    std::function<std::vector<std::string>(const Asked&)> print{};
    /// Puts a text there. Throws UsageError that names the field as `name`.
    std::function<void(const std::string& text, const std::string& name, Asked&)> parse{};
    /// The texts of print() where the field is left out, as a rule of the other fields; empty: what a new
    /// `Asked` has. Of a server, where print() gives nothing: the text that asks for the same.
    std::function<std::vector<std::string>(const Asked&)> usual{};

    /// Whether several texts may be given, which add up.
    bool many() const { return kind >= FieldKind::sizes; }
    const std::string& spelled(Spelling spelling) const { return spelling == Spelling::flag ? flag : key; }
    bool is_called(std::string_view name) const {
        return key == name || (!flag.empty() && flag == name) || contains(aliases, name);
    }
    /// The same as `parse`, of one of the choices where there are any.
    void put(const std::string& text, const std::string& name, Asked& asked) const {
        if (!choices.empty() && !contains(choices, text))
            throw UsageError(
                fmt::format("{}: \"{}\" is not one of {}", name, text, fmt::join(choices, ", ")));
        parse(text, name, asked);
    }
};

/// The rows of a kind of asking.
template <class Asked>
using FieldTable = std::vector<Field<Asked>>;

/// The table with the flag of its key for every row that has none of its own.
template <class Asked>
FieldTable<Asked> with_flags(FieldTable<Asked> table) {
    for (Field<Asked>& field : table)
        if (field.flag.empty() && field.of_tools)
            field.flag = "--" + name_key(field.key);
    return table;
}

/// The field of that key, alias or flag; null where there is none.
template <class Asked>
const Field<Asked>* find_field(const FieldTable<Asked>& table, std::string_view name) {
    const auto found =
        std::ranges::find_if(table, [&](const Field<Asked>& field) { return field.is_called(name); });
    return found == table.end() ? nullptr : &*found;
}

/// The same; throws UsageError with the nearest name. `whole`: what the fields are of, "a question".
template <class Asked>
const Field<Asked>& field_at(const FieldTable<Asked>& table, std::string_view name, std::string_view whole,
                             Spelling spelling = Spelling::key) {
    if (const Field<Asked>* const field = find_field(table, name))
        return *field;
    std::vector<std::string> names =
        mapped(table, [&](const Field<Asked>& field) { return field.spelled(spelling); });
    const auto nearest = nearest_names(name, names, 1);
    throw UsageError(fmt::format("{} has no \"{}\"{}", whole, name,
                                 nearest.empty() ? "" : fmt::format("; is {} meant?", nearest.front())));
}

/// The texts that somebody gave for fields, in any order.
template <class Asked>
class FieldTexts {
  public:
    /// Gives a text to a field, in place of an earlier one unless the field takes several; `named` is how
    /// messages call it. Throws UsageError for a text that cannot be, and leaves the texts as they were.
    void give(const Field<Asked>& field, std::string_view text, const std::string& named) {
        if (field.kind != FieldKind::file) {
            Asked scratch = blank_;
            field.put(std::string(text), named, scratch);
        }
        std::vector<Given>& texts = given_[&field];
        if (!field.many())
            texts.clear();
        texts.push_back({std::string(text), named});
    }
    /// The same to the field of that key, alias or flag. Throws UsageError for a name that no field has, too.
    void give(std::string_view name, std::string_view text) {
        const Field<Asked>& field = field_at(*table_, name, whole_, spelling_);
        give(field, text, spelling_ == Spelling::flag ? field.flag : std::string(name));
    }
    /// Whether a text was given.
    bool has(std::string_view name) const {
        return given_.contains(&field_at(*table_, name, whole_, spelling_));
    }
    /// Whether both were given, with other texts.
    bool differ(std::string_view one, std::string_view other) const {
        const auto a = given_.find(find_field(*table_, one)), b = given_.find(find_field(*table_, other));
        return a != given_.end() && b != given_.end() && a->second.back().text != b->second.back().text;
    }

  protected:
    /// `spelling`: how messages name fields. `blank`: what texts are tried on, with what other fields may say
    /// later.
    FieldTexts(const FieldTable<Asked>& table, std::string_view whole, Spelling spelling, Asked blank = {})
        : table_(&table), whole_(whole), spelling_(spelling), blank_(std::move(blank)) {}
    /// Puts every text there, in the order of the table, in which fields refine each other.
    void put_into(Asked& asked) const {
        for (const Field<Asked>& field : *table_)
            if (const auto given = given_.find(&field); given != given_.end())
                for (const Given& one : given->second)
                    field.put(one.text, one.named, asked);
    }
    const std::string& named(std::string_view key) const {
        return find_field(*table_, key)->spelled(spelling_);
    }
    Spelling spelling() const { return spelling_; }
    /// The fields that have texts.
    std::vector<const Field<Asked>*> given() const {
        std::vector<const Field<Asked>*> fields;
        for (const Field<Asked>& field : *table_)
            if (given_.contains(&field))
                fields.push_back(&field);
        return fields;
    }

  private:
    struct Given {
        std::string text, named;
    };
    const FieldTable<Asked>* table_;
    std::string_view whole_;
    Spelling spelling_;
    Asked blank_;
    std::map<const Field<Asked>*, std::vector<Given>> given_;
};

/// A workload under conditions.
struct Question {
    Workload workload;
    Conditions conditions;
};

using QuestionField = Field<Question>;

/// Every field, in the order in which texts are put into a question.
const FieldTable<Question>& question_fields();
std::vector<std::string> keys_of(std::initializer_list<FieldOf> kinds);
/// The field of that key, alias or flag; null where there is none.
const QuestionField* find_question_field(std::string_view name);
/// The same; throws UsageError with the nearest keys.
const QuestionField& question_field(std::string_view name);

/// The texts that somebody gave for fields of a question.
/// @code
/// QuestionTexts texts(Spelling::key);
/// texts.give("prompt_tokens", "2k");
/// texts.give("context", "4096");
/// assert(texts.question().workload.prompt->tokens == 2000);
/// assert(command_flags(texts.question()) == " --prompt-tokens 2000 --generate-tokens 128 --context 4096");
/// @endcode
class QuestionTexts : public FieldTexts<Question> {
  public:
    /// `spelling`: how messages name fields.
    explicit QuestionTexts(Spelling spelling);
    /// The question they make, for the model that it is asked of. Throws UsageError for fields that cannot be
    /// together.
    Question question(const Model& model = {}) const;
};

struct StatedField {
    const QuestionField* field = nullptr;
    std::vector<std::string> texts;
};
/// The fields that differ from what is usual for the rest of the question.
std::vector<StatedField> stated_fields(const Question& question);

/// " --batch-size 8 --precision int8 --dim sequence=128": what a tool must be given to ask the same of the
/// same model, for a POSIX shell, each flag with a space before it; but for the fields with the keys of
/// `without`.
std::string command_flags(const Question& question, std::span<const std::string_view> without = {});

/// For a POSIX shell: bare where nothing is special, else in single quotes.
std::string shell_quoted(std::string_view text);

/// Tells a question from another of the same model: every stated field but those of `without`, as a JSON
/// object with its keys in order. Questions with the same key have the same answer on the same device.
std::string question_key(const Question& question, std::span<const std::string_view> without = {});

/// Whether two questions, of the same model, are the same in everything that an answer depends on.
bool same_question(const Question& a, const Question& b);

/// "tp=4,pp=2": as it is asked for.
std::string parallel_text(const Parallelism& way);

/// The owner of the fields, in messages.
inline constexpr std::string_view kQuestion = "a question";
/// Heading of what single passes on one device do without.
inline constexpr const char* kSeveralGroup = "Language models and several devices";
/// Heading of what few questions state.
inline constexpr const char* kFurtherGroup = "Further conditions";

/// Formats: the first fields, since others refine them.
std::vector<QuestionField> format_fields();
/// Batch, sizes and prompts.
std::vector<QuestionField> workload_fields();
/// Devices, stacks, scopes and changes.
std::vector<QuestionField> condition_fields();

inline std::vector<std::string> text_or_none(std::optional<std::string> text) {
    return text ? std::vector{std::move(*text)} : std::vector<std::string>{};
}
/// The value of that name. Throws UsageError that names the field, and the names that there are.
template <Named Choice>
Choice choice_named(std::string_view text, std::string_view name) {
    if (const auto choice = value_named<Choice>(text))
        return *choice;
    constexpr auto& all = NamesOf<Choice>::all;
    throw UsageError(all.size() == 2
                         ? fmt::format("{}: \"{}\" is neither {} nor {}", name, text, all[0], all[1])
                         : fmt::format("{}: \"{}\" is not one of {}", name, text, fmt::join(all, ", ")));
}
/// "true", or nothing.
inline std::vector<std::string> truth_text(bool value) {
    return value ? std::vector<std::string>{"true"} : std::vector<std::string>{};
}
/// The truth of a text. Throws UsageError naming the field.
bool truth_of(const std::string& text, const std::string& name);
/// A whole number within bounds. Throws UsageError naming the field.
std::int64_t whole_of(const std::string& text, const std::string& name, std::int64_t low, std::int64_t high);
/// "500ms", "0.5s" in seconds, above 0 or `none` of them. Throws UsageError naming the field.
double seconds_of(const std::string& text, const std::string& name, bool none = false);
/// The shortest text that reads back as the same number.
std::string number_text(double value);

} // namespace archsim
