#pragma once
// The JSON document of an answer: its name and the members that it has, from which its text and its schema
// come.

#include "fields/json_members.hpp"

#include <string>
#include <vector>

namespace archsim {

/// {"schema": "archsim.NAME/1", "version": ..., MEMBERS} as text.
std::string document_text(const std::string& name, nlohmann::ordered_json members);
/// JSON Schema (draft 7) of such documents, from that of their members.
nlohmann::ordered_json document_schema(const std::string& name, const std::string& title,
                                       nlohmann::ordered_json members);

/// The schema of a tool that has several kinds of answers, from theirs.
nlohmann::ordered_json any_of(const std::vector<nlohmann::ordered_json>& kinds);

/// {"lines": [...]}: the verdict of answers that say it in sentences alone.
Members<std::vector<std::string>> lines_members();

/// A kind of answer.
template <class Row>
struct AnswerDocument {
    std::string name;  ///< "compare_models": of the tool
    std::string title; ///< "models on devices, ranked"
    Members<Row> members;

    std::string text(const Row& row) const { return document_text(name, members.value(row)); }
    nlohmann::ordered_json schema() const { return document_schema(name, title, members.schema()); }
};

} // namespace archsim
