#pragma once
// The JSON document of an answer: its name and the members that it has, from which its text and its schema
// come.

#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// Indented by two; bytes that are no UTF-8, which names from files may hold, become the replacement
/// character.
std::string json_text(const nlohmann::ordered_json& document);
/// The same with a newline at its end: a whole file.
std::string document_text(const nlohmann::ordered_json& document);

/// {"schema": "archsim.NAME/1", "version": ..., MEMBERS} as text.
std::string document_text(const std::string& name, nlohmann::ordered_json members);
/// JSON Schema (draft 7) of such documents, from that of their members.
nlohmann::ordered_json document_schema(const std::string& name, const std::string& title,
                                       nlohmann::ordered_json members);

/// The schema of a tool that has several kinds of answers, from theirs.
nlohmann::ordered_json any_of(const std::vector<nlohmann::ordered_json>& kinds);

/// {"lines": [...]}: the verdict of answers that say it in sentences alone.
Members<std::vector<std::string>> lines_members();

/// The document of an answer, which outlives it. Each answer has a function `document_of(answer, view)`.
class AnswerDocument {
  public:
    /// `name` is the tool's, "compare_models"; `title` says what it answers: "models on devices, ranked".
    template <class Row>
    AnswerDocument(const Row& row, std::string name, std::string title, Members<Row> members)
        : name_(std::move(name)), title_(std::move(title)),
          value_([&row, members] { return members.value(row); }),
          schema_([members] { return members.schema(); }) {}

    std::string text() const { return document_text(name_, value_()); }
    nlohmann::ordered_json schema() const { return document_schema(name_, title_, schema_()); }

  private:
    std::string name_, title_;
    std::function<nlohmann::ordered_json()> value_, schema_;
};

/// An answer in JSON, as render() asks for it.
template <class Answer, class... View>
requires requires(const Answer& answer, const View&... view) {
    { document_of(answer, view...) } -> std::same_as<AnswerDocument>;
}
std::string to_json(const Answer& answer, const View&... view) {
    return document_of(answer, view...).text();
}

/// The schema of a kind of answer, which an empty one has too.
template <class Answer, class View = PlainView>
nlohmann::ordered_json schema_of() {
    return document_of(Answer(), View()).schema();
}

nlohmann::ordered_json compare_models_schema();
nlohmann::ordered_json list_hardware_mappers_schema();
nlohmann::ordered_json serve_model_schema();

} // namespace archsim
