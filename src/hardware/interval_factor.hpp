#pragma once
// What an interval multiplies and divides an estimate by.

#include <cmath>

namespace archsim {

/// exp(`deviations` times the square root of `variance`), of the logarithm of an estimate. Mathematical
/// libraries differ in the last bits of an exponential, answers do not: multiples of 2^-40. Worked: 2.132
/// deviations of a variance of 0.01: 1.2376.
inline double interval_factor(double deviations, double variance) {
    constexpr double kSteps = 1099511627776.0; // 2^40
    return std::round(std::exp(deviations * std::sqrt(variance)) * kSteps) / kSteps;
}

} // namespace archsim
