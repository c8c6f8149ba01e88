#pragma once
// Intervals of an estimate from the table of left-out errors.

#include "archsim/estimate/estimate.hpp"
#include "archsim/map/machine.hpp"

#include <array>
#include <optional>

namespace archsim {

/// Widths of the intervals of one machine whose time is of one kind, by what dominates: looked up once.
struct KnownWidths {
    struct Widths {
        Spread time, energy, rate;
        bool projected = false;
    };
    std::array<std::optional<Widths>, 3> by_regime;
};

/// Sets the intervals of time, rate and energy. `timed` says what the time is: an inference, the pass over a
/// prompt, or one generated token. A saturated rate has a width of its own; any other is 1 / time. `known` is
/// of this machine, or of one that differs from it in rates, prices and limits alone.
void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e, KnownWidths& known);
void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e);

} // namespace archsim
