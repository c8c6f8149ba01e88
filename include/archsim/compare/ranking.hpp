#pragma once
#include "archsim/compare/result.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace archsim {

enum class RankBy : std::uint8_t { latency, throughput, energy, power, memory };

/// One place of a ranking.
struct Rank {
    std::size_t result = 0; ///< index into the ranked results
    int place = 0;          ///< 1 is best; equal for ties; 0 for a result that has no estimate
    bool tied = false;      ///< its 90 % interval overlaps that of the best in its place
};

/// Best first; results without an estimate come last in their given order. Neighbours whose intervals overlap
/// the interval of the best in their place share it: the estimates cannot tell them apart.
ARCHSIM_API std::vector<Rank> rank_results(std::span<const Result> results, RankBy by);

/// What a scenario ranks by, in every table, document and choice of details.
inline RankBy ranked_by(Scenario scenario) {
    return scenario == Scenario::throughput ? RankBy::throughput : RankBy::latency;
}

/// The number that ranks, in SI, lower is better (throughput is negated).
ARCHSIM_API double ranking_value(const Estimate& estimate, RankBy by);

} // namespace archsim
