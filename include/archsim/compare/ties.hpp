#pragma once
// When two estimates can be told apart. Intervals of different devices err independently of each other; what
// one device does in two modes, batches or formats errs together, and only the ratio counts.

#include "archsim/compare/metric.hpp"
#include "archsim/core/export.hpp"

namespace archsim {

/// True when the estimates say that `a`, which measures `x`, is better than `b`, which measures `y`: the
/// whole interval of `x` lies before that of `y`, or both are of one network on one device under one software
/// stack and its value is better.
ARCHSIM_API bool surely_better(const Metric& by, const Result& a, const Measure& x, const Result& b,
                               const Measure& y);

/// True when neither is surely better.
inline bool tied(const Metric& by, const Result& a, const Measure& x, const Result& b, const Measure& y) {
    return !surely_better(by, a, x, b, y) && !surely_better(by, b, y, a, x);
}

} // namespace archsim
