#pragma once
// Random numbers that a seed decides on every machine; the distributions of the standard library do not.

#include <cstddef>
#include <cstdint>
#include <span>

namespace archsim::test {

class RandomSource {
  public:
    explicit RandomSource(std::uint64_t seed) : state_(seed) {}

    /// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// One of 0, 1, ... count - 1.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
    /// True `of` a hundred times.
    bool percent(unsigned of) { return below(100) < of; }
    template <class T>
    const T& one_of(std::span<const T> values) {
        return values[below(values.size())];
    }
    template <class T, std::size_t N>
    const T& one_of(const T (&values)[N]) {
        return values[below(N)];
    }

  private:
    std::uint64_t state_;
};

} // namespace archsim::test
