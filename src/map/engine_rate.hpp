#pragma once
// What one unit of an engine does per cycle of the clock that a machine counts in.

#include "archsim/map/machine.hpp"

namespace archsim {

/// Clock at which code runs: the mode's, else that with every core busy or what the chip sustains, else
/// boost, else the engine's own. Throws InputError where none is known.
const Fact& operating_clock(const Device& device, const PowerMode* mode);

/// Operations of one unit per cycle of the operating clock. A unit that cores share keeps the ratio of its
/// own clock to theirs: 512 at 2.89 GHz beside cores at 3.2 GHz are 462. Others run at the operating clock.
double operations_per_cycle(const Device& device, const Engine& engine, Precision p);

} // namespace archsim
