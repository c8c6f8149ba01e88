#pragma once
// GPUs that the vendors' tools or the PCI bus show -> their entries.

#include "machine/match.hpp"
#include "machine/this_machine.hpp"

#include <vector>

namespace archsim {

/// One entry per GPU in the order in which the tools name them; the first is kThisGpu, later ones have a
/// number.
std::vector<MachineEntry> gpu_entries(const Snapshot& snapshot, const Devices& devices);

} // namespace archsim
