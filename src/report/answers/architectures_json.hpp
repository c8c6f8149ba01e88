#pragma once
// Parts of the compare_architectures document.

#include "ask/json_members.hpp"
#include "report/answers/compare_architectures_report.hpp"

namespace archsim {

/// "hybrids", "decision", "what_if", "sensitivity" and "batch_sweep"; null for what was not asked.
Members<ArchitectureComparison> scenario_members(const MetricView& view);

} // namespace archsim
