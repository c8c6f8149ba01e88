#pragma once
// Memory of one inference by liveness over the schedule: what is alive at each step, and an arena with
// offsets.

#include "archsim/map/work.hpp"

#include <span>

namespace archsim {

/// `sizes[i]` are the bytes of `buffers[i]`; `steps` is the number of subgraphs.
MemoryPlan plan_memory(std::span<const Buffer> buffers, std::span<const double> sizes, std::size_t steps);

/// The plan for sizes that are all `factor` times those of `plan`; exact where that is a power of two.
MemoryPlan scaled(MemoryPlan plan, double factor);

} // namespace archsim
