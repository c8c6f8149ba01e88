#pragma once
#include <cstddef>
#include <span>

namespace archsim {

/// Pairs of one group in which the measurement prefers one side.
struct PairCounts {
    std::size_t concordant = 0, discordant = 0, undecided = 0; ///< undecided: the prediction ties
    std::size_t comparable() const { return concordant + discordant + undecided; }
};
PairCounts count_pairs(std::span<const double> measured, std::span<const double> predicted);

} // namespace archsim
