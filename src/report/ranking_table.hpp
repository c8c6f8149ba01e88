#pragma once
#include "archsim/compare/ranking.hpp"
#include "archsim/report/report.hpp"

#include <span>

namespace archsim {

/// One row per result, best first, for people: results of one model at one batch size. `top` rows; 0: all.
Table ranking_table(std::span<const Result> results, Scenario scenario, int top = 0);

/// Results that rank among each other: one model, one batch size, one format.
struct RankedGroup {
    std::span<const Result> results;
    double batch_size = 1;
    Scenario scenario = Scenario::latency;
};
/// One row per result with everything that identifies it, for programs.
Table results_table(std::span<const RankedGroup> groups);

} // namespace archsim
