#pragma once
// Energy prices against measured power.
//
//   Family  Prices                    Share   Best multiple  Runs  Networks  Devices
//   gpu     dram_byte                  52 %   1.31 +- 0.04     78         9        2
//           static                     30 %   0.96 +- 0.08
//           mac + l1_byte + l2_byte    12 %   1.20 +- 0.21

#include "archsim/extend/renderer.hpp"
#include "fit/errors/price_check.hpp"

#include <vector>

namespace archsim {

/// Adds a heading and the table; nothing where there are no checks.
void add_prices(const std::vector<PriceCheck>& checks, Report& report);

} // namespace archsim
