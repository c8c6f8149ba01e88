#pragma once
// Which of two estimates is better, and how likely. What both share cancels: a network that is slower than
// estimated everywhere, a chip whose clock is lower than stated for both of its rows.

#include "archsim/compare/metric.hpp"
#include "archsim/estimate/estimate.hpp"

#include <optional>

namespace archsim {

/// Odds of 3 to 1: below that two neighbours share a place.
inline constexpr double kToldApart = 0.75;

/// Probability that `a`, which measures `x`, is better than `b`, which measures `y`. The logarithm of their
/// ratio follows Student's t around the estimated one; its scale is that of both errors less what they share
/// (device, lanes, stack, network: see hardware/error_model.hpp). Worked: intervals of a factor of 1.4 either
/// way, nothing shared, a ratio of 1.3: scales of ln 1.4 / 2.132 = 0.158 each, 0.223 together; t = 0.262 /
/// 0.223 = 1.18: 85 %.
double probability_better(const Metric& by, const Result& a, const Measure& x, const Result& b,
                          const Measure& y);

/// True when the odds are closer than 3 to 1 either way.
inline bool tied(const Metric& by, const Result& a, const Measure& x, const Result& b, const Measure& y) {
    const double p = probability_better(by, a, x, b, y);
    return p < kToldApart && 1 - p < kToldApart;
}

/// Upper over lower end of the 90 % interval of a result's time once another network has been measured on its
/// device under its stack; nothing where the result states no interval, or answers prompts. Worked: a chip
/// that nobody measured, whose estimates share a variance of 0.09 beside 0.03 of their own, goes from a
/// factor of 4.4 to one of 2.7.
std::optional<double> width_after_measuring(const Result& result);

/// Probability that the true value is at most `limit`; see Verdict.
double probability_at_most(double limit, double value, const Interval& interval);

} // namespace archsim
