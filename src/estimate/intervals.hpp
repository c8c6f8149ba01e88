#pragma once
// Intervals of an estimate from the model of errors.

#include "archsim/estimate/estimate.hpp"
#include "archsim/map/machine.hpp"
#include "hardware/held_rows.hpp"
#include "hardware/posterior.hpp"

#include <optional>

namespace archsim {

/// The errors of one machine's estimates, whose time is of one kind: looked up once.
struct KnownWidths {
    struct Widths {
        ErrorParts time, energy, rate;
        double reach = 0;
        Posterior time_given, energy_given, rate_given; ///< of one who measured some rows
        std::string basis;
        NetworkKind kind = NetworkKind::convolution;
        HeldEvidence held; ///< of networks of the kind
    };
    std::optional<Widths> widths;
};

/// Shares of the estimate's subgraphs that compute, move data and start things.
LaneShares lane_shares(const Estimate& e);

/// Sets the intervals of time, rate and energy. `timed` says what the time is: an inference, the pass over a
/// prompt, or one generated token. A saturated rate has a width of its own; any other is 1 / time. `known` is
/// of this machine, or of one that differs from it in rates, prices and limits alone.
void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e, KnownWidths& known);
void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e);

} // namespace archsim
