#pragma once
// Decisions in documents.

#include "archsim/compare/decisions.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// A decision over results with these labels.
struct LabelledDecision {
    const Decision* decision = nullptr;
    std::vector<std::string> labels;
};

/// {"constraints": [...], "verdicts": [...], "recommended", "tied", "nearest"}.
Members<LabelledDecision> decision_members();

} // namespace archsim
