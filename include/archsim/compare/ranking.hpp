#pragma once
#include "archsim/compare/result.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

enum class RankBy : std::uint8_t { latency, throughput, energy, power, memory };

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    /// 1 + how many measured results are surely better; 0 for a result that has nothing to rank by. Results
    /// that cannot be told apart pairwise may share a place without all being alike: the relation is not
    /// transitive.
    int place = 0;
    bool tied = false;      ///< some other result with a place cannot be told apart from it
    bool projected = false; ///< nothing measured stands behind it: it counts for nobody's place
    /// "2", "2=" where tied, "(2)" where projected, "-" without a place.
    ARCHSIM_API std::string text() const;
};

/// Best value first, projections among the others; results without a value come last in their given order.
ARCHSIM_API std::vector<Rank> rank_results(std::span<const Result> results, RankBy by);

/// The number that ranks, in SI, lower is better (throughput is negated).
ARCHSIM_API double ranking_value(const Estimate& estimate, RankBy by);

} // namespace archsim
