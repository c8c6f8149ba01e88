#pragma once
// Who rents a device out: prices of one kind of provider compare with each other.

#include "archsim/hardware/device.hpp"

#include <string>

namespace archsim {

/// "specialised cloud" where the note of the price begins so, else "hyperscaler": a large vendor's cloud.
/// What the first asks for an H100 is less than half of what the second does.
std::string market_of(const Price& hourly);

} // namespace archsim
