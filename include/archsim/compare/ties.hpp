#pragma once
// When two estimates can be told apart. Intervals of different devices err independently of each other; what
// one device does in two modes, batches or formats errs together, and only the ratio counts.

#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"

namespace archsim {

/// A value to compare by, lower is better, and its nominal 90 % interval. NaN: nothing to compare.
struct Standing {
    double value = 0;
    Interval interval;
    /// True when there is something to compare.
    bool known() const { return value == value; }
};

/// True when the estimates say that `a` is better than `b`: its whole interval lies before that of `b`, or
/// both are of one device under one software stack and its value is lower.
ARCHSIM_API bool surely_better(const Result& a, const Standing& x, const Result& b, const Standing& y);

/// True when neither is surely better.
inline bool tied(const Result& a, const Standing& x, const Result& b, const Standing& y) {
    return !surely_better(a, x, b, y) && !surely_better(b, y, a, x);
}

} // namespace archsim
