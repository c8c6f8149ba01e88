#pragma once
// Whether odds and intervals hold, on rows that the error model has not seen.

#include "fit/errors/error_fit.hpp"
#include "fit/errors/left_out.hpp"

#include <vector>

namespace archsim {

/// Pairs of rows of one workload on two devices, of times whose order was measured.
PairOdds check_pairs(const std::vector<ErrorRow>& rows, const ErrorModel& model);

/// Every run by a model of the other runs, and of the rows that are not in it.
std::vector<FirstRunCheck> check_first_runs(const ErrorEvidence& evidence, const FirstRuns& runs,
                                            const ErrorModel& shares);

/// Waits of clients by models that have not seen the row's network; nothing where there are none.
std::vector<FirstRunCheck> check_served(const ErrorEvidence& evidence, const ErrorModel& shares);

} // namespace archsim
