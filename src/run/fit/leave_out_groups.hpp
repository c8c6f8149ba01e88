#pragma once
// One fit on all rows, and its refits with one group of rows left out at a time.

#include "archsim/run/leave_out.hpp"
#include "run/fit/parameter_fit.hpp"

namespace archsim {

/// The parameters that fit all rows best, from those that are stated.
FitResult fit_all(ParameterFit& fit);
/// Every row predicted by the refit that has not seen its group; `full` is the result of fit_all.
std::vector<Prediction> left_out_predictions(ParameterFit& fit, LeaveOut what, const FitResult& full);

} // namespace archsim
