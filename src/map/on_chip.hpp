#pragma once
// What a chip can keep near its compute units.

#include "archsim/map/machine.hpp"

namespace archsim {

/// Bytes of its largest on-chip level over all units.
double on_chip_bytes(const Machine& machine);
/// Bytes of on-chip memory in which the compiler places activations; 0 where caches decide.
double managed_memory_bytes(const Machine& machine);
/// Bytes of on-chip memory beside these that only weights use.
double weight_memory_bytes(const Machine& machine);

} // namespace archsim
