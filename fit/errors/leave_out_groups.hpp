#pragma once
// One fit on all rows, and its refits with one group of rows left out at a time.

#include "fit/errors/leave_out.hpp"
#include "fit/parameters/parameter_fit.hpp"
#include "fit/parameters/price_fit.hpp"

namespace archsim {

/// Every row predicted by the refit that has not seen its group; `full` is that of all rows. Rows of
/// power and energy take prices that have not seen it either, where `prices` are given.
std::vector<Prediction> left_out_predictions(const ParameterFit& fit, LeaveOut what, const FitResult& full,
                                             const PriceFits* prices = nullptr);

/// Rows that hang together by the parameters they share, and these parameters.
struct ConnectedRows {
    std::vector<std::size_t> rows;
    std::vector<TunedParameter> parameters;
};
std::vector<ConnectedRows> connected_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                          const std::vector<TunedParameter>& parameters, unsigned threads);

} // namespace archsim
