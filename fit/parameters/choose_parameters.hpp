#pragma once
// What a calibration varies.

#include "fit/parameters/calibrate.hpp"
#include "fit/parameters/parameter_fit.hpp"

namespace archsim {

/// See calibrate(). `rows` are those of the device or the stack of the request.
std::vector<TunedParameter> choose_parameters(const RowEstimator& estimator,
                                              const std::vector<MeasuredRow>& rows,
                                              const CalibrationRequest& request);

/// Standard error of the logarithm of every fitted value, from the scatter of the residuals and the
/// expectations; infinite where nothing determines it.
std::vector<double> standard_errors(const ParameterFit& fit, const FitResult& result);

} // namespace archsim
