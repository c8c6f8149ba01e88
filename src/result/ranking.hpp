#pragma once
// Who is named first, and in which order: the one policy that every front follows.
//
// A result may lead where measurements stand behind it, none refutes it and nothing of its network is left
// out (may_lead). Of those the best is named where it is the best with odds of kCalled at least; else it is
// too close to call. Places: a best that is called has the first alone, else all that are too close share it;
// behind them those that the best of their group beats with odds of less than 3 to 1 share its place.

#include "archsim/compare/metric.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    /// 1 + how many results that may lead stand before its group; 0 for a result that has no value. Never
    /// falls from one row to the next.
    int place = 0;
    bool tied = false; ///< another result that may lead shares the place
};

/// " (projected)", " (refuted)" behind the name of what may not lead; empty for what may.
std::string standing_note(const Estimate& estimate);

/// Best value first. What may not lead stands among the others and does not move their places; results
/// without a value come last in their given order.
std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions = {});

/// Probability that each is the best of all that have a value and may lead; 0 for the others. All of them
/// where none may.
std::vector<double> shares_of_best(std::span<const Result> results, const Metric& by,
                                   const CostOptions& conditions = {});

} // namespace archsim
