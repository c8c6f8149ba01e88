#pragma once
// Places by one metric, in the order of the estimates. Those that the best of their group beats with odds of
// less than 3 to 1 share its place.

#include "archsim/compare/metric.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    /// 1 + how many measured results stand before its group; 0 for a result that has no value. Never falls
    /// from one row to the next.
    int place = 0;
    bool tied = false; ///< another measured result shares the place
};

/// Best value first. Projections stand among the others and do not move their places; results without a value
/// come last in their given order.
std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                               const CostOptions& conditions = {});

} // namespace archsim
