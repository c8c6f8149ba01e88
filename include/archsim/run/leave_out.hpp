#pragma once
// Predictions for measurements that the parameters have not seen: everything marked `fitted` is fitted again
// without them.

#include "archsim/run/validate.hpp"

#include <string_view>
#include <vector>

namespace archsim {

/// What is left out together: all rows of one network, or all rows of one device.
enum class LeaveOut : std::uint8_t { model, device };
ARCHSIM_API std::string_view name_of(LeaveOut what);

/// One prediction per row, each from parameters fitted on the rows of the other networks or devices.
///
/// Statements of the database marked `fitted` that decide the rows are fitted jointly wherever rows share
/// them; measured power and energy take no part. A device that is left out takes its own parameters from
/// what the other devices of its family state, and so does a parameter that only left-out rows decide.
/// Refits start from the solution on all rows and use its derivatives. Rows that no fitted parameter decides
/// are predicted as they are. Intervals are those of the shipped table around the left-out prediction.
ARCHSIM_API std::vector<Prediction> predict_left_out(const RowEstimator& estimator,
                                                     const std::vector<MeasuredRow>& rows, LeaveOut what,
                                                     unsigned threads = 1);

/// The rows with those predictions.
ARCHSIM_API std::vector<ValidatedRow> leave_out_rows(const RowEstimator& estimator,
                                                     const std::vector<MeasuredRow>& rows, LeaveOut what,
                                                     unsigned threads = 1);

} // namespace archsim
