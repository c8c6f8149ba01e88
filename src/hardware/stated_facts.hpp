#pragma once
// Every number that a file of the database states, as written there, with its source.

#include "archsim/core/provenance.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace archsim {

/// A number of a file with its place and source.
struct StatedFact {
    std::string where; ///< JSON pointer
    double value = 0;
    std::string unit; ///< as written; "1" where the number has none
    SourceKind kind = SourceKind::assumed;
    std::string cite, note;
    int fitted_n = 0;
    double fitted_error = 0;
};

inline constexpr std::size_t kSourceKindCount = 7;
inline constexpr std::array<SourceKind, kSourceKindCount> kSourceKinds = {
    SourceKind::datasheet, SourceKind::paper, SourceKind::measured, SourceKind::derived,
    SourceKind::fitted,    SourceKind::tuned, SourceKind::assumed};

/// How many numbers each kind of source stands behind.
struct SourceCounts {
    std::array<std::size_t, kSourceKindCount> counts{};
    /// Numbers of that kind.
    std::size_t& operator[](SourceKind kind) { return counts[static_cast<std::size_t>(kind)]; }
    /// Numbers of that kind.
    std::size_t operator[](SourceKind kind) const { return counts[static_cast<std::size_t>(kind)]; }
    /// Adds other counts.
    SourceCounts& operator+=(const SourceCounts& other) {
        for (std::size_t i = 0; i < kSourceKindCount; ++i)
            counts[i] += other.counts[i];
        return *this;
    }
    /// Numbers of every kind.
    std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t count : counts)
            sum += count;
        return sum;
    }
};
SourceCounts count_sources(const std::vector<StatedFact>& facts);

} // namespace archsim
