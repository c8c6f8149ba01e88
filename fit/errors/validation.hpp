#pragma once
// Estimates held against measurements: rows, errors, statistics. Pure arithmetic; reading files and running
// the estimator happen elsewhere.

#include "archsim/compare/measured_row.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

struct RankedValue {
    std::string item;
    double measured = 0, predicted = 0;
};

/// Pairs of one group in which the measurement prefers one side; two measurements of one item rank nothing.
struct PairCounts {
    std::size_t concordant = 0, discordant = 0, undecided = 0; ///< undecided: the prediction ties
    std::size_t comparable() const { return concordant + discordant + undecided; }
};
PairCounts count_pairs(std::span<const RankedValue> values);

/// The estimate for one row, in the row's own unit.
struct Prediction {
    std::string status = "ok"; ///< "ok", or why there is no number: "unsupported", "does_not_fit", ...
    std::string reason;        ///< one sentence when not ok
    double predicted = 0;
    double low = 0, high = 0; ///< nominal 90 % interval
    std::string device, vendor;
    std::string family;     ///< "gpu"
    std::string generation; ///< of its chip: "ampere-a100"; empty where the database states none
    std::string regime;     ///< "compute", "memory" or "overhead"
    std::string runtime;    ///< id of the software stack that the row's name stands for on its device
    std::string evidence;   ///< what the parameters rest on: "device", "stack" or "none"
    NetworkKind kind = NetworkKind::convolution;
    /// True when the row could be estimated.
    bool ok() const { return status == "ok"; }
};

/// A measurement with its prediction.
struct ValidatedRow {
    MeasuredRow measured;
    Prediction prediction;
    /// predicted / measured - 1; 0 where there is no prediction.
    double error() const { return prediction.ok() ? prediction.predicted / measured.value - 1 : 0; }
    /// The measured time over the predicted one.
    double slowness() const {
        const double ratio = measured.value / prediction.predicted;
        return measured.metric == MeasuredMetric::throughput_per_s ? 1 / ratio : ratio;
    }
    /// True for power and energy.
    bool of_power() const {
        return measured.metric == MeasuredMetric::power_w || measured.metric == MeasuredMetric::energy_mj;
    }
    /// True when the measured value lies inside the predicted interval.
    bool covered() const { return prediction.low <= measured.value && measured.value <= prediction.high; }
};

/// Errors of a group of rows, |predicted / measured - 1| unless said otherwise.
struct ErrorStatistics {
    std::size_t n = 0;
    double median_ape = 0, mean_ape = 0, p90_ape = 0;   ///< absolute relative errors
    double bias = 0;                                    ///< geometric mean of predicted / measured, minus 1
    double within_10 = 0, within_25 = 0, within_50 = 0; ///< shares of rows
    double coverage = 0;                                ///< share of measurements inside the interval
};
ErrorStatistics error_statistics(const std::vector<const ValidatedRow*>& rows);

/// Agreement of two orders: (concordant - discordant) / comparable pairs within groups of rows that differ
/// only in what is ranked. Pairs with equal measurements, and two measurements of one thing, say nothing and
/// are left out.
struct RankAgreement {
    double tau = 0;
    std::size_t pairs = 0, groups = 0; ///< tau means something only where pairs > 0
};
/// Devices with their power modes and stacks, ranked for each (model, size, batch, precision, scope, metric).
RankAgreement tau_of_devices(const std::vector<const ValidatedRow*>& rows);
/// Models ranked for each (device, power mode, stack, batch, precision, scope, metric).
RankAgreement tau_of_models(const std::vector<const ValidatedRow*>& rows);

/// Errors of the rows that share a device, a family, a model...
struct ValidationGroup {
    std::string name;
    ErrorStatistics errors;
    RankAgreement devices, models;
};

/// The same statistics over all rows and over those of one property, by value.
struct ValidationSummary {
    std::string selection; ///< "weight >= 0.7" or "all rows"
    ValidationGroup all;
    /// By property ("family", "hardware", "model", ...), then by its value.
    std::vector<std::pair<std::string, std::vector<ValidationGroup>>> by;
};

/// Every property of ValidationSummary::by: "family", "hardware", ...
std::vector<std::string_view> validation_groupings();

/// All rows and the groups they fall into.
struct Validation {
    std::vector<ValidatedRow> rows; ///< as in the file
    ValidationSummary trusted;      ///< rows of weight >= kTrustedWeight
    ValidationSummary every;
};

/// Rows of at least this weight decide; the others are shown.
inline constexpr double kTrustedWeight = 0.7;

using Predict = std::function<Prediction(const MeasuredRow&)>;
Validation summarize(std::vector<ValidatedRow> rows);
/// Calls `predict` for every row, from several threads when `threads` > 1.
Validation validate(std::vector<MeasuredRow> rows, const Predict& predict, unsigned threads = 1);

// Quantiles of sorted values.

/// Linear between ranks; `share` from 0 to 1, `sorted` not empty.
inline double quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

} // namespace archsim
