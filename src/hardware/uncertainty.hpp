#pragma once
// How far estimates are from measurements they were not fitted on: hardware_db/uncertainty.json, the
// variances of one error model (error_model.hpp), written by the validation tool, never by hand.

#include "core/same_everywhere.hpp"
#include "hardware/held_rows.hpp"
#include "hardware/posterior.hpp"

namespace archsim {

/// Measured value lies between `low` x and `high` x the prediction with nominal 90 % probability.
struct Spread {
    double low = 1, high = 1;
    int rows = 0;           ///< left-out measurements behind it
    std::string_view basis; ///< "GPU, launch-bound, fitted device"; owned by the table
};

/// The evidence behind an estimate's parameters: measurements of this very device under this stack, of the
/// stack on other devices, or of neither. Only the parameters that price the part which dominates count:
/// `regime` is "compute", "memory" or "overhead".
enum class Evidence : std::uint8_t { device, stack, none };
Evidence evidence_for(const Device& device, const Runtime& runtime, std::string_view regime);

/// Widths of intervals, and what was measured.
class UncertaintyTable {
  public:
    /// Reads the variances: see hardware_db/uncertainty_schema.json.
    explicit UncertaintyTable(const std::filesystem::path& file);

    /// The same table, for one who measured some rows: estimates follow them (estimate/intervals.hpp).
    UncertaintyTable given(std::vector<GivenRow> rows) const;
    /// Those rows.
    const std::vector<GivenRow>& given() const { return given_; }

    /// The fitted variances.
    const ErrorModel& model() const { return model_; }
    /// The class of errors that an estimate belongs to.
    static ErrorSubject subject(SpreadOf metric, const Device& device, const Runtime& runtime);
    /// Variances of its effects.
    ErrorParts parts(SpreadOf metric, const Device& device, const Runtime& runtime) const;
    /// Standard deviations from an estimate to either end of its 90 % interval.
    double reach() const { return reach_; }

    /// The rows that are held: of "evidence.json" beside the file.
    const HeldRows& held() const { return held_; }
    /// `device` where the metric was measured of this very chip under this stack, `stack` where it was of
    /// others whose parameters the stack shares with it, else `none`.
    Evidence evidence(const Device& device, const Runtime& runtime, SpreadOf metric) const;

    /// The interval of an estimate that one lane takes all of, with what stands behind it.
    Spread spread(SpreadOf metric, const Device& device, const Runtime& runtime) const;

  private:
    struct Memo;
    const std::pair<ErrorParts, Spread>& known(SpreadOf metric, const Device& device,
                                               const Runtime& runtime) const;

    ErrorModel model_;
    std::shared_ptr<Memo> memo_; ///< every question about a device and a stack asks for the same again
    double reach_ = 0;
    std::vector<std::array<std::string, 3>> bases_; ///< of model_.within, by evidence
    std::vector<GivenRow> given_;
    HeldRows held_;
};

/// exp(`deviations` times the square root of `variance`), of the logarithm of an estimate. Worked: 2.132
/// deviations of a variance of 0.01: 1.2376.
inline double interval_factor(double deviations, double variance) {
    return same_everywhere(std::exp(deviations * std::sqrt(variance)));
}

} // namespace archsim
