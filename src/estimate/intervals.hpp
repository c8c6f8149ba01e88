#pragma once
// Intervals of an estimate from the table of left-out errors.

#include "archsim/estimate/estimate.hpp"
#include "archsim/map/machine.hpp"

namespace archsim {

/// Sets the intervals of time, rate and energy. `timed` says what the time is: an inference, the pass over a
/// prompt, or one generated token. A saturated rate has a width of its own; any other is 1 / time.
void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e);

} // namespace archsim
