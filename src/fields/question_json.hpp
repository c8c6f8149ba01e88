#pragma once
// Questions as JSON: the fields of a request, and their texts from JSON.

#include "archsim/run/serve.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A field in JSON: a number, a truth value, a text, an object, or null where the question has nothing.
nlohmann::ordered_json field_json(FieldKind kind, const std::vector<std::string>& texts);

/// Every field as a member of a document, described as the tools explain it; for tools that ask no
/// others, the fields of these keys. What no flag asks for is null where it is usual, so that the whole can
/// be asked again.
Members<Question> question_members(std::span<const std::string_view> only = {});
/// The same of the fields that are of one of these kinds.
Members<Question> question_members(std::initializer_list<FieldOf> kinds);

/// JSON Schema of field_json(): what values of that kind are. `words`: of texts, those that there are; empty:
/// any.
nlohmann::ordered_json field_schema(FieldKind kind, const std::vector<std::string>& words);

/// The texts that a value of a document gives to a field; none for null. Throws UsageError, naming the field
/// as `name`, for a value of another kind.
std::vector<std::string> texts_of_json(const QuestionField& field, const nlohmann::ordered_json& value,
                                       const std::string& name);

/// Every field of a request to a server by its key, what is usual too: {"rate": 2, "prompt_tokens": 512,
/// ...}; null: what the stack has, nothing, or the content of a file. For tools that take no others, but for
/// `without`.
Members<ServingRequest> server_members(std::span<const std::string_view> without = {});
/// Limits on waiting by their keys, as texts; null: none.
Members<ServiceLevel> level_members();

} // namespace archsim
