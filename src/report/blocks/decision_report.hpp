#pragma once
// Limits and choices in words: `--max-latency`, `--min-throughput`, ..., `--pareto`.

#include "archsim/compare/decisions.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// A verdict with its headroom per result and limit, the Pareto front, and the recommendation, or what is
/// nearest when nothing qualifies. `labels` name the results.
std::vector<Block> decision_blocks(const Decision& decision, std::span<const Result> results,
                                   const std::vector<std::string>& labels);

struct LabelledDecision {
    const Decision* decision = nullptr;
    std::vector<std::string> labels;
};

/// {"constraints": [...], "verdicts": [...], "recommended", "tied", "nearest"}.
Members<LabelledDecision> decision_members();

} // namespace archsim
