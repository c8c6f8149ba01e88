#pragma once
// The JSON Schemas of the answers, each given by what writes the document of that name.

#include "archsim/core/export.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

ARCHSIM_API nlohmann::ordered_json analyze_batch_schema();
ARCHSIM_API nlohmann::ordered_json analyze_comprehensive_schema();
ARCHSIM_API nlohmann::ordered_json analyze_graph_mapping_schema();
ARCHSIM_API nlohmann::ordered_json check_budget_schema();
ARCHSIM_API nlohmann::ordered_json check_model_schema();
ARCHSIM_API nlohmann::ordered_json compare_architectures_schema();
ARCHSIM_API nlohmann::ordered_json compare_models_schema();
ARCHSIM_API nlohmann::ordered_json discover_models_schema();
ARCHSIM_API nlohmann::ordered_json explain_difference_schema();
ARCHSIM_API nlohmann::ordered_json list_hardware_mappers_schema();
ARCHSIM_API nlohmann::ordered_json local_models_schema();
ARCHSIM_API nlohmann::ordered_json model_classes_schema();
ARCHSIM_API nlohmann::ordered_json operators_schema();
ARCHSIM_API nlohmann::ordered_json profile_graph_schema();
ARCHSIM_API nlohmann::ordered_json serve_model_schema();
ARCHSIM_API nlohmann::ordered_json size_service_schema();
ARCHSIM_API nlohmann::ordered_json study_schema();
ARCHSIM_API nlohmann::ordered_json sweep_design_space_schema();

} // namespace archsim
