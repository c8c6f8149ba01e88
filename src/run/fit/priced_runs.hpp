#pragma once
// Runs whose power was measured, with what their estimates say it consists of.

#include "archsim/run/validate.hpp"

#include <map>
#include <string>
#include <vector>

namespace archsim {

/// One measured run. Events take place in the measured time, where the run states power and energy.
struct PricedRun {
    double measured_w = 0;
    PowerParts parts;
    const MeasuredRow* row = nullptr;
};

/// The trusted runs of each family; `rows` must outlive them.
std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows);

} // namespace archsim
