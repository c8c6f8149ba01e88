#pragma once
// Predictions for rows that the parameters have not seen, and what their errors say about every estimate.

#include "fit/errors/validation.hpp"
#include "hardware/error_model.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// log(measured / predicted) of one row; rates are turned so that it is about time.
struct ErrorRow {
    std::string id, family, runtime, device, model, regime, generation;
    SpreadOf metric = SpreadOf::latency;
    double value = 0;
    double predicted = 0; ///< logarithm of the predicted time; of a rate with the sign turned
    std::string workload; ///< sizes, batch, format and protocol
};

/// A blind prediction of one measured row, in the row's own unit.
struct FirstRun {
    std::string id;
    double predicted = 0, low = 0, high = 0; ///< with its nominal 90 % interval
};

/// Rows that are left out together: all rows of one network, of one device, or of one family of devices.
enum class LeaveOut : std::uint8_t { model, device, family };
std::string_view name_of(LeaveOut what);

/// Predictions for one measured row, in its own unit; NaN where there is none.
struct LeftOutRow {
    std::string id;
    double shipped = std::numeric_limits<double>::quiet_NaN();        ///< with the parameters of the database
    double without_model = std::numeric_limits<double>::quiet_NaN();  ///< fitted on the other networks
    double without_device = std::numeric_limits<double>::quiet_NaN(); ///< fitted on the other devices
    double without_family = std::numeric_limits<double>::quiet_NaN(); ///< fitted on the other families
};

/// Rows of a recorded run, with what was predicted then.
struct RecordedRun {
    std::string name;
    std::vector<ValidatedRow> rows;
    std::set<std::string> unseen; ///< ids of other rows that no fit had seen when it was made
};
using FirstRuns = std::vector<RecordedRun>;
/// The rows of one recorded run, from those of the validations that carry its ids.
std::vector<ValidatedRow> recorded_rows(const std::vector<FirstRun>& run,
                                        std::span<const Validation* const> validations);

/// The odds given for two devices that run one workload, both without its network in any fit, against the
/// order that was measured. Worked: 4 pairs with odds of 3 to 1, 3 of them right: said 0.75, was 0.75.
struct PairOdds {
    /// Pairs whose likelier order has a probability within a tenth.
    struct Tenth {
        std::size_t pairs = 0, right = 0;
        double said = 0; ///< sum of probabilities
    };
    std::array<Tenth, 5> tenths;      ///< by the probability of the likelier order: 0.5 to 0.6, ..., 0.9 to 1
    std::size_t pairs = 0, right = 0; ///< right: the estimates order them as the measurements do
};

/// Intervals of a recorded run by an error model that has seen none of its rows.
struct FirstRunCheck {
    std::string name;
    std::size_t rows = 0, covered = 0;
    double median_error = 0; ///< relative, of what was predicted then
    double median_width = 0; ///< upper over lower bound
};

/// The same statistics as for shipped parameters, over left-out predictions. Intervals are nested: those of a
/// row come from a table that has not seen the row's network, device or family either.
struct LeftOutValidation {
    Validation without_model, without_device, without_family;
    std::size_t outdated = 0; ///< rows whose shipped prediction has moved by more than 1 % since, or is new
    PairOdds pairs;
    std::vector<FirstRunCheck> first_runs;
};

/// `first_runs` are recorded predictions of rows that nobody had looked at: see recorded_rows; `served` are
/// errors of served_errors.
LeftOutValidation left_out_validation(const Validation& shipped, const std::vector<LeftOutRow>& rows,
                                      const FirstRuns& first_runs = {},
                                      const std::vector<ErrorRow>& served = {});

/// Numbers that measurements decided, beside the rows that carry them.
struct FitSupport {
    std::string kind, name;             ///< "device" or "stack", and its id
    std::size_t rows = 0, networks = 0; ///< measured times that these numbers decide
    std::size_t fitted = 0, tuned = 0;  ///< of the device's own, or of the stack's
    /// More of them than a third of the rows: they may follow the measurements instead of the chip.
    bool thin() const { return 3 * (fitted + tuned) > rows; }
};

/// The variances that rows of weight >= kTrustedWeight support.
///
/// What a network adds on a chip that was measured with others comes from left-out networks: the squared
/// scale of Student's t, of all times, of a family, of a stack, and of a metric under it, each around the one
/// before. What a chip adds that nobody measured comes from recorded first runs, made when nobody had
/// measured it: leaving a device out flatters, because its facts were chosen with its rows in sight. Every
/// device counts alike there, and three devices of all families beside those of its own.
ErrorModel fit_error_model(const LeftOutValidation& left_out, const FirstRuns& first_runs,
                           const std::vector<ErrorRow>& served = {});

// Variances of the error model from rows that no parameter had seen.

SpreadOf metric_of(const MeasuredRow& row);
/// Rows with a prediction whose conditions are stated.
std::vector<ErrorRow> error_rows(const std::vector<ValidatedRow>& rows);

/// Names that a fit must not see; empty ones leave nothing out.
struct Unseen {
    std::string model, device, family;
    bool hides(const ErrorRow& row) const {
        return (!model.empty() && row.model == model) || (!device.empty() && row.device == device) ||
               (!family.empty() && row.family == family);
    }
};

/// A recorded run, and other rows that its version had not seen either: they tell nothing of what was known
/// then.
struct FirstRunErrors {
    std::vector<ErrorRow> rows;
    std::set<std::string> unseen;
};

/// The rows that fits draw on.
struct ErrorEvidence {
    std::vector<ErrorRow> without_model, without_device;
    std::vector<ErrorRow> served; ///< waits of clients that no parameter was fitted to; of these widths alone
    std::vector<FirstRunErrors> first_runs;
};

/// The model that rows support. `shares`: also how a set's variance is shared out; costs a pass over pairs of
/// rows, and hardly depends on a few of them.
ErrorModel fit_errors(const ErrorEvidence& evidence, const Unseen& unseen = {},
                      const ErrorModel* shares = nullptr);

/// Times of one workload on two devices, of which the measurements say which is faster.
bool comparable(const ErrorRow& a, const ErrorRow& b);
/// The variance of the difference of the errors of two rows of one workload on two devices, neither of whose
/// networks was seen; without the model's difference_scale.
double difference_variance(const ErrorModel& model, const ErrorRow& a, const ErrorRow& b);

/// Half the width, in logarithms, of the 90 % interval of a row.
double half_width(const ErrorModel& model, const ErrorRow& row);

/// Pairs of rows of one workload on two devices, of times whose order was measured.
PairOdds check_pairs(const std::vector<ErrorRow>& rows, const ErrorModel& model);

} // namespace archsim
