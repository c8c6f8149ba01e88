#pragma once
// Random numbers that are the same with every standard library.

#include <cmath>
#include <cstdint>

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
    /// Of mean one.
    double exponential() { return -std::log1p(-uniform()); }

  private:
    std::uint64_t state_;
};

} // namespace archsim::serving
