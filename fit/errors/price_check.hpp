#pragma once
// Energy prices against measured power: what multiple of each price the measurements ask for, and which
// prices they cannot tell apart.

#include "archsim/estimate/estimate.hpp"
#include "fit/errors/validation.hpp"
#include "fit/rows/validate.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// Tells one measured run from another: everything of a row but its metric and value.
std::string run_of(const MeasuredRow& row);

/// Rows of one metric at one boundary. Empty names stand for all of them.
struct PowerGroup {
    MeasuredMetric metric = MeasuredMetric::power_w;
    std::optional<PowerBoundary> boundary;
    std::string family, regime;
    ErrorStatistics errors;
    RankAgreement devices;  ///< order of devices on the same workload
    std::string worst;      ///< id of the row that is farthest off
    double worst_error = 0; ///< its predicted / measured - 1
    /// Rows of energy whose run states its power too: energy is power x time per item, and which of them is
    /// wrong.
    std::size_t split = 0;
    double power_error = 0, power_bias = 0; ///< median of the error's size; geometric mean
    double time_error = 0, time_bias = 0;   ///< likewise, of energy over power
};

/// Groups of the trusted rows of power and energy: each metric as a whole, then at each boundary, then by
/// family and regime at each boundary; those without rows are left out.
std::vector<PowerGroup> power_groups(const Validation& validation);

/// Prices that are checked together: alone they leave the measurements as they are.
struct PriceColumn {
    std::vector<std::string> prices; ///< "mac", "dram_byte", ..., "static"
    double share = 0;                ///< of the measured power, on average, at present prices
    double factor = 1;               ///< best multiple of the present prices, at least 0
    double error = 0;                ///< standard error of the factor
};

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
