#pragma once
// How work on different resources overlaps.

#include <algorithm>
#include <cmath>

namespace archsim {

/// (x^p + y^p + z^p)^(1/p), for p from 1 (one after another) to infinity (perfect overlap).
inline double combine(double x, double y, double z, double p) {
    if (p == 1)
        return x + y + z;
    const double top = std::max({x, y, z});
    if (top <= 0 || std::isinf(top) || std::isinf(p)) // an infinite lane is infinite time, not inf / inf
        return top;
    const double a = x / top, b = y / top, c = z / top;
    if (p == 2)
        return top * std::sqrt(a * a + b * b + c * c);
    if (p == 4)
        return top * std::sqrt(std::sqrt(a * a * a * a + b * b * b * b + c * c * c * c));
    return top * std::pow(std::pow(a, p) + std::pow(b, p) + std::pow(c, p), 1 / p);
}

} // namespace archsim
