#pragma once
// Random numbers that are the same with every standard library.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace archsim::serving {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// In [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    double exponential() { return -std::log1p(-uniform()); }
    /// Has mean zero and variance one (Box and Muller, 1958).
    double normal() {
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    /// Has the mean `shape`, above 0 (Marsaglia and Tsang, ACM TOMS 26, 2000).
    double gamma(double shape) {
        if (shape < 1) // their note: a power of a uniform number brings a larger shape down
            return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
        const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal(), root = 1 + c * x, v = root * root * root;
            if (v > 0 && std::log1p(-uniform()) < x * x / 2 + d - d * v + d * std::log(v))
                return d * v;
        }
    }

  private:
    std::uint64_t state_;
};

} // namespace archsim::serving
