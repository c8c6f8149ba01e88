#pragma once
// The memories of a chip that a network has to fit into, and what it needs of each: the one place that says
// whether it fits.

#include "archsim/estimate/estimate.hpp"

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
    /// Null where the network fits.
    const MemoryPool* too_small() const {
        for (const MemoryPool& pool : pools)
            if (!pool.holds())
                return &pool;
        return nullptr;
    }
    bool fits() const { return too_small() == nullptr; }
};
MemoryPools memory_pools(const MemoryEstimate& memory, const Machine& machine);
double memory_of_pools(const Machine& machine);

} // namespace archsim
