#pragma once
// Parts of the compare_architectures document.

#include "answers/architectures/compare_architectures_report.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// "hybrids", "decision", "what_if", "sensitivity" and "batch_sweep"; null for what was not asked.
Members<ArchitectureComparison> scenario_members(const MetricView& view);

} // namespace archsim
