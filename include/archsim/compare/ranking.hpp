#pragma once
// Places by one metric. Estimates whose intervals overlap share a place: they cannot be told apart.

#include "archsim/compare/metric.hpp"
#include "archsim/core/export.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace archsim {

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    int place = 0;          ///< 1 is best; equal for ties; 0 for a result that has no value
    bool tied = false;      ///< its 90 % interval overlaps that of the best in its place
};

/// Best first; results without a value come last in their given order. Neighbours whose intervals overlap
/// the interval of the best in their place share it.
ARCHSIM_API std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                                           const CostOptions& conditions = {});

} // namespace archsim
