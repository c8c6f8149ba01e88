#pragma once
// Estimates of power and energy against measurements: apart from time, by where they were measured.

#include "archsim/estimate/estimate.hpp"
#include "fit/errors/validation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What tells one measured run from another: everything of a row but its metric and value.
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
    /// Of rows of energy whose run states its power too: energy is power x time per item, and which of them
    /// is wrong.
    std::size_t split = 0;
    double power_error = 0, power_bias = 0; ///< median of the error's size; geometric mean
    double time_error = 0, time_bias = 0;   ///< likewise, of energy over power
};

/// Groups of the trusted rows of power and energy: each metric as a whole, then at each boundary, then by
/// family and regime at each boundary; those without rows are left out.
std::vector<PowerGroup> power_groups(const Validation& validation);

} // namespace archsim
