#pragma once
// Questions as JSON: the fields of a request, and their texts from JSON.

#include "fields/json_members.hpp"
#include "fields/question.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// What a field is in JSON: a number, a truth value, a text, an object, or null where the question has
/// nothing.
nlohmann::ordered_json field_json(const QuestionField& field, const std::vector<std::string>& texts);

/// Every field by its key, what is usual too: {"precision": "bf16", "batch_size": 1, ..., "context": 4096}.
nlohmann::ordered_json question_json(const Question& question);

/// The same as members of a document, described as the tools explain the fields; for tools that ask no
/// others, the fields of these keys.
Members<Question> question_members(std::span<const std::string_view> only = {});

/// JSON Schema of field_json(): what values of that kind are. `words`: of texts, those that there are; empty:
/// any.
nlohmann::ordered_json field_schema(FieldKind kind, const std::vector<std::string>& words);

/// The texts that a value of a document gives to a field; none for null. Throws UsageError, naming the field
/// as `name`, for a value of another kind.
std::vector<std::string> texts_of_json(const QuestionField& field, const nlohmann::ordered_json& value,
                                       const std::string& name);

} // namespace archsim
