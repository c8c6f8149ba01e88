#pragma once
// Parts of the compare_architectures document. Private: nlohmann stays out of public headers.

#include "report/answers/compare_architectures_report.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// Adds "hybrids", "decision", "what_if", "sensitivity" and "batch_sweep"; null for what was not asked.
void add_scenarios(const ArchitectureComparison& c, nlohmann::ordered_json& document);

} // namespace archsim
