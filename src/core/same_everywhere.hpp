#pragma once
// Powers and logarithms that are the same wherever the library runs.

#include <cmath>

namespace archsim {

/// `value` to 40 binary digits. Mathematical libraries differ in the last bits of a power or a logarithm;
/// answers do not. Worked: 1/3 becomes 0.33333333333348: 5e-13 off.
inline double same_everywhere(double value) {
    constexpr int kDigits = 40;
    int exponent = 0;
    const double digits = std::frexp(value, &exponent);
    return std::isfinite(value) ? std::ldexp(std::round(std::ldexp(digits, kDigits)), exponent - kDigits)
                                : value;
}

} // namespace archsim
