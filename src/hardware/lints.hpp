#pragma once
// Sanity of a device that could be read: numbers that contradict each other.

#include "archsim/hardware/device.hpp"

namespace archsim {

std::vector<Finding> lint_device(const Device& device);

} // namespace archsim
