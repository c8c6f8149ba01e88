#pragma once
// Sanity of a device: numbers that contradict each other.

#include "archsim/hardware/device.hpp"

#include <span>
#include <vector>

namespace archsim {

/// `known` are the findings of reading it: what they say already, or make doubtful, is not said again.
std::vector<Finding> lint_device(const Device& device, std::span<const Finding> known = {});

} // namespace archsim
