#pragma once
// What an interval multiplies and divides an estimate by.

#include "core/same_everywhere.hpp"

#include <cmath>

namespace archsim {

/// exp(`deviations` times the square root of `variance`), of the logarithm of an estimate. Worked: 2.132
/// deviations of a variance of 0.01: 1.2376.
inline double interval_factor(double deviations, double variance) {
    return same_everywhere(std::exp(deviations * std::sqrt(variance)));
}

} // namespace archsim
