#pragma once
// What devices of a service cost by the hour.

#include "archsim/compare/cost.hpp"
#include "archsim/hardware/device.hpp"

#include <optional>
#include <string>

namespace archsim {

/// Dollars an hour of so many devices on the basis of `options`, without electricity; absent without a price.
/// Worked: four at 2.50 USD/h rented: 10; one at 30,000 USD over 5 years of 8,766 hours: 0.68.
std::optional<double> hourly_price(const Device& device, double devices, const CostOptions& options,
                                   std::string* basis = nullptr);

} // namespace archsim
