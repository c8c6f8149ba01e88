#pragma once
// Services whose prompts are read on one kind of device and whose answers are written on another.

#include "answers/sizing/size_device.hpp"

#include <vector>

namespace archsim {

/// Adds the fewest devices of every ordered pair of the sized devices that serve in the same format, of those
/// that hold, and why others could not be estimated. Never throws for a pair.
void size_pairs(const SizingBasis& basis, const std::vector<const Conditions*>& conditions,
                SizingAnswer& answer);

} // namespace archsim
