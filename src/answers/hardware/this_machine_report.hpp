#pragma once
// The machine at hand for people:
//
//   This machine: Intel(R) Xeon(R) Processor
//   Estimated like Xeon-8592+: the same generation (Emerald Rapids); its own name is hidden in a virtual
//   machine
//     Number                  Value     Origin    From
//     cores                   2         detected  /proc/cpuinfo
//     clock, all cores busy   2.90 GHz  database  Xeon-8592+: clock with all cores busy

#include "archsim/core/export.hpp"
#include "archsim/extend/renderer.hpp"
#include "machine/this_machine.hpp"

namespace archsim {

/// One table per processor and GPU, its remarks, and what to do with the entry.
ARCHSIM_API Report describe(const ThisMachine& machine);

} // namespace archsim
