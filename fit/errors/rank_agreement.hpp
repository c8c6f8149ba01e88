#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace archsim {

/// What is ranked, and by what.
struct RankedValue {
    std::string item;
    double measured = 0, predicted = 0;
};

/// Pairs of one group in which the measurement prefers one side; two measurements of one item rank nothing.
struct PairCounts {
    std::size_t concordant = 0, discordant = 0, undecided = 0; ///< undecided: the prediction ties
    std::size_t comparable() const { return concordant + discordant + undecided; }
};
PairCounts count_pairs(std::span<const RankedValue> values);

} // namespace archsim
