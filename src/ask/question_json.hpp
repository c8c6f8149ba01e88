#pragma once
// Questions as JSON: the fields of a request, and their texts from JSON.

#include "archsim/core/export.hpp"
#include "ask/question.hpp"

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
/// The fields of these keys, for tools that ask no others.
nlohmann::ordered_json question_json(const Question& question, std::span<const std::string_view> only);

/// The texts that a value of a document gives to a field; none for null. Throws UsageError, naming the field
/// as `name`, for a value of another kind.
ARCHSIM_API std::vector<std::string>
texts_of_json(const QuestionField& field, const nlohmann::ordered_json& value, const std::string& name);

} // namespace archsim
