#pragma once
// The memories of a chip that a network has to fit into, and what it needs of each: the one place that says
// whether it fits.

#include "archsim/estimate/estimate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace archsim {

/// A memory, and what a network needs of it.
struct MemoryPool {
    std::string_view name; ///< as in "needs 2 MB of RAM"; empty: all there is
    double needed = 0;
    double capacity = 0; ///< 0: not known
    bool holds() const { return capacity <= 0 || needed <= capacity; }
};

/// Most chips have one memory. A microcontroller computes in RAM and reads weights in flash; some NPUs keep
/// weights and activations in memories apart.
struct MemoryPools {
    std::array<MemoryPool, 2> pools;
    bool fits() const {
        return std::all_of(pools.begin(), pools.end(), [](const MemoryPool& p) { return p.holds(); });
    }
    /// Whether the pools are memories of their own, which do not make room for each other.
    bool apart() const { return !pools.front().name.empty(); }
};
MemoryPools memory_pools(const MemoryEstimate& memory, const Machine& machine);
double memory_of_pools(const Machine& machine);

} // namespace archsim
