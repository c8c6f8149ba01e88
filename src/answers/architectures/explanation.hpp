#pragma once
// Why one architecture differs from another, and what would turn their ranking around.

#include "answers/difference/attribution.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// The smallest change of one thing after which the other one of the pair is better.
struct Flip {
    std::string change;                  ///< lever name, "batch" or "precision"
    std::string title;                   ///< for sentences: "memory bandwidth"
    std::string architecture;            ///< whose device changes; empty: both run the changed workload
    double factor = 1;                   ///< of a lever: on its own value
    std::int64_t batch = 0;              ///< of "batch"
    std::vector<std::string> precisions; ///< of "precision": formats with this same outcome
    double a_value = 0, b_value = 0;     ///< after the change
};

/// Why one device differs from another.
struct Explanation {
    std::size_t a = 0, b = 0; ///< results
    Attribution attribution;
    /// The same pair by latency, where time is among the causes of `attribution`.
    std::optional<Attribution> time;
    bool overlapping = false;         ///< odds of less than 3 to 1
    std::vector<Flip> flips;          ///< smallest change first, then batch and precision
    std::vector<std::string> no_flip; ///< titles of levers that do not turn the ranking within `flip_limit`
    double flip_limit = 0;
};

} // namespace archsim
