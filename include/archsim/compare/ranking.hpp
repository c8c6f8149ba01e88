#pragma once
// Places by one metric. Estimates whose intervals overlap share a place: they cannot be told apart.

#include "archsim/compare/metric.hpp"
#include "archsim/core/export.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    /// 1 + how many measured results are surely better; 0 for a result that has no value. Results that cannot
    /// be told apart pairwise may share a place without all being alike: the relation is not transitive.
    int place = 0;
    bool tied = false; ///< some other result with a place cannot be told apart from it
};

/// Best value first, projections among the others, though they count for nobody's place; results without a
/// value come last in their given order.
ARCHSIM_API std::vector<Rank> rank_results(std::span<const Result> results, const Metric& by,
                                           const CostOptions& conditions = {});

} // namespace archsim
