#pragma once
// Decisions in JSON documents. Private: nlohmann stays out of public headers.

#include "archsim/compare/decisions.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// {"constraints": [...], "verdicts": [...], "recommended", "tied", "nearest"}.
nlohmann::ordered_json decision_json(const Decision& decision, const std::vector<std::string>& labels);

} // namespace archsim
