#pragma once
// Energy prices against measured power: what multiple of each price the measurements ask for, and which
// prices they cannot tell apart.

#include "fit/rows/validate.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace archsim {

/// Prices that are checked together: alone they leave the measurements as they are.
struct PriceColumn {
    std::vector<std::string> prices; ///< "mac", "dram_byte", ..., "static"
    double share = 0;                ///< of the measured power, on average, at present prices
    double factor = 1;               ///< best multiple of the present prices, at least 0
    double error = 0;                ///< standard error of the factor
};

/// One family's prices.
struct PriceCheck {
    std::string family;
    std::size_t runs = 0, networks = 0, devices = 0; ///< measured runs and what they are of
    std::vector<PriceColumn> columns;                ///< largest share first
    double median_before = 0, median_after = 0; ///< error of power: at present prices, at the best multiples
    /// Error of power at multiples found without the run's network, and without its device: what the prices
    /// are worth elsewhere. NaN where what is left tells the columns no longer apart.
    double median_network_out = 0, median_device_out = 0;
};

/// Non-negative least squares of measured power, relative to each measurement, with the events of the
/// estimates as columns. Where a run states power and energy, its time is the measured one, so that errors of
/// time do not look like errors of prices. Columns whose factor has a standard error above 0.3 are tied to
/// the column that they are confused with, until every factor is told apart and there are three runs for
/// each. Rows of weight below kTrustedWeight are left out.
std::vector<PriceCheck> check_prices(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows);

} // namespace archsim
