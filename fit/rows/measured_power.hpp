#pragma once
// The power of an estimate inside the boundary that a measured row states.

#include "archsim/estimate/estimate.hpp"
#include "archsim/map/machine.hpp"
#include "fit/errors/validation.hpp"
#include "fit/rows/validate.hpp"

namespace archsim {

/// An estimate of `devices` devices that work on one thing, and the copies of them that a row was measured
/// on.
struct PoweredRow {
    const MeasuredRow& row;
    const Machine& machine;
    const Estimate& estimate; ///< of all `devices` together
    double devices = 1, copies = 1;
};

/// Watts of everything inside the row's boundary, all devices of the row.
double drawn_power(const PoweredRow& powered);

/// The same as the row states it: of one device, or of the whole system at the wall.
double stated_power(const PoweredRow& powered);

/// Its parts; `item_s` is the time per item that the row's energy is about.
PowerParts parts_of_power(const PoweredRow& powered, double item_s);

} // namespace archsim
