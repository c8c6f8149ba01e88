#pragma once
// JSON of what Explanations ask for: keys that documents of several tools share.

#include "report/blocks/energy_report.hpp"
#include "report/blocks/explanations.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

nlohmann::ordered_json energy_json(std::span<const Result> results, const EnergyView& view);
nlohmann::ordered_json memory_json(std::span<const Result> results);
nlohmann::ordered_json cost_json(std::span<const Result> results, const CostOptions& options);

/// Adds "energy", "memory" and "cost", as far as asked for.
void add_explanations(nlohmann::ordered_json& document, std::span<const Result> results,
                      const Explanations& explanations);

} // namespace archsim
