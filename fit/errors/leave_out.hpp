#pragma once
// Predictions for measurements that the parameters have not seen: everything that measurements decided is
// fitted again, or reverted, without them.

#include "fit/errors/left_out.hpp"
#include "fit/parameters/parameter_fit.hpp"
#include "fit/parameters/price_fit.hpp"
#include "fit/rows/validate.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace archsim {

/// The same database three times: as shipped, with the tuned facts of devices reverted to what public facts
/// say, and with those of software stacks reverted too.
struct LeftOutEstimators {
    const RowEstimator &shipped, &devices_reverted, &reverted;
};

/// One prediction per row and way of leaving out.
struct LeftOutPredictions {
    std::vector<Prediction> without_model, without_device, without_family;
};

/// One prediction per row, each from parameters fitted on the rows of the other networks, devices or
/// families.
///
/// Statements of the database marked `fitted` or `tuned` that decide the rows are fitted jointly wherever
/// rows share them; measured power and energy decide the multiples of their family's energy prices
/// (hardware_db/energy.json, "fitted"), which are found again without the network or device and are 1 without
/// the family. Tuned facts that no fit varies have the value
/// they state as "before": those of devices always, those of stacks where one device carries the stack and is
/// left out, or its family is. A device that is left out takes its own parameters from what the other devices
/// of its family state, and so does a parameter that only left-out rows decide; a family takes them from
/// public facts where these are stated as "before", else from the other families, and keeps what these say
/// nothing about. Refits take each row's time as the sum of the shares that the parameters price at the
/// solution on all rows; what is left out is then predicted in full. Rows that no such parameter decides are
/// predicted as they are.
LeftOutPredictions predict_left_out(const LeftOutEstimators& estimators, const std::vector<MeasuredRow>& rows,
                                    unsigned threads = 1);
std::vector<Prediction> predict_left_out(const LeftOutEstimators& estimators,
                                         const std::vector<MeasuredRow>& rows, LeaveOut what,
                                         unsigned threads = 1);
/// The same with one database for all, tuned facts as it states them.
std::vector<Prediction> predict_left_out(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                         LeaveOut what, unsigned threads = 1);

/// The rows with those predictions.
std::vector<ValidatedRow> leave_out_rows(const LeftOutEstimators& estimators,
                                         const std::vector<MeasuredRow>& rows, LeaveOut what,
                                         unsigned threads = 1);

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

/// Shipped, network-, device- and family-left-out predictions of every row; see predict_left_out.
std::vector<LeftOutRow> make_left_out(const LeftOutEstimators& estimators,
                                      const std::vector<MeasuredRow>& rows, unsigned threads = 1);
/// CSV: id, shipped, without_model, without_device, without_family.
std::string to_csv(const std::vector<LeftOutRow>& rows);
/// Throws InputError naming the line that cannot be used.
std::vector<LeftOutRow> read_left_out(const std::filesystem::path& file);

// Blind predictions as a file: the only honest blind test of a version is the one run before anything was
// fitted.

/// CSV with the columns id, status, predicted, low and high, as `validate_estimates --format csv` writes
/// them; rows that had no estimate are left out. Throws InputError naming the line that cannot be used.
std::vector<FirstRun> read_first_run(const std::filesystem::path& file);

} // namespace archsim
