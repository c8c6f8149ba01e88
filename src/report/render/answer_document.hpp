#pragma once
// The JSON document of an answer: its name and the members that it has, from which its text and its schema
// come.

#include "fields/json_members.hpp"

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
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

/// A kind of answer.
template <class Row>
struct AnswerDocument {
    std::string name;  ///< "compare_models": of the tool
    std::string title; ///< "models on devices, ranked"
    Members<Row> members;

    std::string text(const Row& row) const { return document_text(name, members.value(row)); }
    nlohmann::ordered_json schema() const { return document_schema(name, title, members.schema()); }
};

nlohmann::ordered_json analyze_batch_schema();
nlohmann::ordered_json analyze_comprehensive_schema();
nlohmann::ordered_json analyze_graph_mapping_schema();
nlohmann::ordered_json check_budget_schema();
nlohmann::ordered_json check_model_schema();
nlohmann::ordered_json compare_architectures_schema();
nlohmann::ordered_json compare_models_schema();
nlohmann::ordered_json discover_models_schema();
nlohmann::ordered_json explain_difference_schema();
nlohmann::ordered_json list_hardware_mappers_schema();
nlohmann::ordered_json local_models_schema();
nlohmann::ordered_json model_classes_schema();
nlohmann::ordered_json operators_schema();
nlohmann::ordered_json profile_graph_schema();
nlohmann::ordered_json serve_model_schema();
nlohmann::ordered_json size_service_schema();
nlohmann::ordered_json study_schema();
nlohmann::ordered_json sweep_design_space_schema();

} // namespace archsim
