#pragma once
// Variances of the error model from rows that no parameter had seen.

#include "fit/errors/left_out.hpp"
#include "hardware/error_model.hpp"

#include <set>
#include <string>
#include <vector>

namespace archsim {

/// What a row's width is for.
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

/// What fits draw on.
struct ErrorEvidence {
    std::vector<ErrorRow> without_model, without_device;
    std::vector<ErrorRow> served; ///< waits of clients that no parameter was fitted to; of these widths alone
    std::vector<FirstRunErrors> first_runs;
};

/// The model that rows support. `shares`: also how a set's variance is shared out; costs a pass over pairs of
/// rows, and hardly depends on a few of them.
ErrorModel fit_errors(const ErrorEvidence& evidence, const Unseen& unseen = {},
                      const ErrorModel* shares = nullptr);

/// Both rows are of one network, batch and format, and of one metric.
bool same_workload(const ErrorRow& a, const ErrorRow& b);
/// Times of one workload on two devices, of which the measurements say which is faster.
bool comparable(const ErrorRow& a, const ErrorRow& b);
/// Of the difference of the errors of two rows of one workload on two devices, neither of whose networks was
/// seen; without the model's difference_scale.
double difference_variance(const ErrorModel& model, const ErrorRow& a, const ErrorRow& b);

/// Half the width, in logarithms, of the 90 % interval of a row.
double half_width(const ErrorModel& model, const ErrorRow& row);

/// Pairs of rows of one workload on two devices, of times whose order was measured.
PairOdds check_pairs(const std::vector<ErrorRow>& rows, const ErrorModel& model);

/// Every run by a model of the other runs, and of the rows that are not in it.
std::vector<FirstRunCheck> check_first_runs(const ErrorEvidence& evidence, const FirstRuns& runs,
                                            const ErrorModel& shares);

/// Waits of clients by models that have not seen the row's network; nothing where there are none.
std::vector<FirstRunCheck> check_served(const ErrorEvidence& evidence, const ErrorModel& shares);

} // namespace archsim
