#pragma once
// Services whose prompts are read on one kind of device and whose answers are written on another.

#include "run/sizing/size_device.hpp"

#include <functional>

namespace archsim {

/// The fewest devices of every ordered pair of the sized devices that serve in the same format, of those that
/// hold within the budget; `progress` is told of each pair. Never throws for a pair.
std::vector<SizedPair> size_pairs(const SizingBasis& basis, const SizingAnswer& answer,
                                  const std::vector<const Conditions*>& conditions,
                                  const std::function<void()>& progress);

} // namespace archsim
