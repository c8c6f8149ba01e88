#pragma once
// One fit on all rows, and its refits with one group of rows left out at a time.

#include "fit/errors/leave_out.hpp"
#include "fit/parameters/parameter_fit.hpp"
#include "fit/parameters/price_fit.hpp"

namespace archsim {

/// The parameters that fit all rows best, from those that are stated, after so many steps at most; those that
/// are stated where others lower the cost by less than `least_gain` of it.
FitResult fit_all(ParameterFit& fit, int iterations, double least_gain = 0);
/// Every row predicted by the refit that has not seen its group; `full` is the result of fit_all. Rows of
/// power and energy take prices that have not seen it either, where `prices` are given.
std::vector<Prediction> left_out_predictions(const ParameterFit& fit, LeaveOut what, const FitResult& full,
                                             const PriceFits* prices = nullptr);

/// Rows that hang together by the parameters they share, and these parameters.
struct ConnectedRows {
    std::vector<std::size_t> rows;
    std::vector<TunedParameter> parameters;
};
std::vector<ConnectedRows> connected_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                          unsigned threads);

} // namespace archsim
