#pragma once
// The capacity that a chip has near its compute units, and what these do per cycle of the clock that a
// machine counts in.

#include "archsim/map/machine.hpp"

namespace archsim {

/// Bytes of its largest on-chip level over all units.
double on_chip_bytes(const Machine& machine);
/// Bytes of on-chip memory in which the compiler places activations; 0 where caches decide.
double managed_memory_bytes(const Machine& machine);
/// Bytes of on-chip memory beside these that only weights use.
double weight_memory_bytes(const Machine& machine);

/// Operations of one unit per cycle of the operating clock. A unit that cores share keeps the ratio of its
/// own clock to theirs: 512 at 2.89 GHz beside cores at 3.2 GHz are 462. Others run at the operating clock.
double operations_per_cycle(const Device& device, const Engine& engine, Precision p);

} // namespace archsim
