#pragma once
// "Jetson-Orin-Nano@all": a device in each of its power modes.

#include "archsim/hardware/database.hpp"

#include <string>
#include <vector>

namespace archsim {

/// The names, each with the size of memory that a comma cut from it ("RTX 4070 laptop" and "32GB" are one
/// name), and every NAME@all replaced by NAME@MODE for each mode, in the order of the device's file. Throws
/// InputError for a device that does not exist or has no modes.
std::vector<std::string> with_every_mode(const HardwareDatabase& hardware,
                                         const std::vector<std::string>& names);

} // namespace archsim
