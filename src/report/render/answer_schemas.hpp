#pragma once
// The JSON Schemas of the answers, each given by what writes the document of that name.

#include <nlohmann/json.hpp>

namespace archsim {

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
