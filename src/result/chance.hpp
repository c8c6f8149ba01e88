#pragma once
// How likely a value keeps a limit.

#include "archsim/estimate/estimate.hpp"

namespace archsim {

/// Probability that the true value is at most `limit`; see Verdict.
double probability_at_most(double limit, double value, const Interval& interval);

} // namespace archsim
