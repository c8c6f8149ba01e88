#pragma once
// What is asked of a device: the fields of a question, a row each, and what follows from the rows - texts,
// keys and command lines. Tools, studies, Python, C, the page and files of results read and write questions
// by these rows.

#include "archsim/compare/conditions.hpp"
#include "archsim/run/workload.hpp"
#include "fields/field.hpp"

#include <initializer_list>
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

using QuestionField = Field<Question>;

/// Every field, in the order in which texts are put into a question.
const FieldTable<Question>& question_fields();
/// Keys of the fields of some kinds of questions.
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

/// A field and the texts that state what a question has there.
struct StatedField {
    const QuestionField* field = nullptr;
    std::vector<std::string> texts;
};
/// What differs from what is usual for the rest of the question.
std::vector<StatedField> stated_fields(const Question& question);

/// " --batch-size 8 --precision int8 --dim sequence=128": what a tool must be given to ask the same of the
/// same model, for a POSIX shell, each flag with a space before it; but for the fields with the keys of
/// `without`.
std::string command_flags(const Question& question, std::span<const std::string_view> without = {});

/// For a POSIX shell: bare where nothing is special, else in single quotes.
std::string shell_quoted(std::string_view text);

/// What tells a question from another of the same model: every stated field but those of `without`, as a JSON
/// object with its keys in order. Questions with the same key have the same answer on the same device.
std::string question_key(const Question& question, std::span<const std::string_view> without = {});

/// Whether two questions, of the same model, are the same in everything that an answer depends on.
bool same_question(const Question& a, const Question& b);

} // namespace archsim
