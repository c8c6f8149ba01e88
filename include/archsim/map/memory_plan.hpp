#pragma once
// Memory of one inference by liveness over the schedule: what is alive at each step, and an arena with
// offsets.

#include "archsim/core/export.hpp"
#include "archsim/partition/partition.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace archsim {

/// Activations over the steps of the schedule.
struct MemoryPlan {
    std::vector<double> timeline; ///< live activation bytes at each subgraph
    std::vector<double> crossing; ///< bytes made before each subgraph and read by it or later
    double peak_live_bytes = 0;   ///< lower bound of any arena
    double arena_bytes = 0;       ///< greedy by size, best fit (Pisarchyk & Lee 2020, algorithm 3)
    double kv_cache_bytes = 0;    ///< keys and values carried between steps, outside the arena
    std::uint32_t peak_step = 0;
    std::vector<TensorId> peak_tensors;    ///< alive at the peak, largest first
    std::vector<double> peak_tensor_bytes; ///< of each of them
};

/// `sizes[i]` are the bytes of `buffers[i]`; `steps` is the number of subgraphs.
ARCHSIM_API MemoryPlan plan_memory(std::span<const Buffer> buffers, std::span<const double> sizes,
                                   std::size_t steps);

/// The plan for sizes that are all `factor` times those of `plan`; exact where that is a power of two.
ARCHSIM_API MemoryPlan scaled(MemoryPlan plan, double factor);

} // namespace archsim
