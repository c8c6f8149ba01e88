#pragma once
// Runs whose power was measured, with what their estimates say it consists of.

#include "fit/rows/validate.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// One measured run. Its parts are those at the full clock, whatever the power limit leaves of it: these do
/// not depend on what prices are now. Events take place in the measured time, where the run states power and
/// energy.
struct PricedRun {
    double measured_w = 0;
    PowerParts parts;
    const MeasuredRow* row = nullptr;
    double limit_w = std::numeric_limits<double>::infinity(); ///< what it states at its power limit
};

/// The trusted runs of each family; `rows` must outlive them.
std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows);

} // namespace archsim
