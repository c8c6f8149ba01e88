#pragma once
// Parameters of the database as variables of a fit on measured rows.

#include "fit/parameters/fit.hpp"
#include "fit/rows/validate.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace archsim {

/// Expectations follow what other statements say, and prices what times say, so that each fit moves what the
/// next one starts from. Values stay as they are where all rows together ask for others by less than this
/// share of the cost: a fit from its own result ends.
inline constexpr double kLeastGain = 1e-3;

/// One variable: statements that were fitted together share their value.
struct TunedParameter {
    std::vector<ParameterSite> sites;
    double start = 1;                    ///< the value that runs use now
    double prior = 1;                    ///< what to expect without measurements
    double prior_spread = 0;             ///< on log scale; 0: nothing is known
    bool held = false;                   ///< stays as it is
    std::optional<ParameterSite> parent; ///< of a chip's value under one stack: what the stack says of all
};

/// Rows whose time the parameters decide. Predictions are kept for the last few values of the parameters
/// that a row uses, so that a change elsewhere costs nothing.
class ParameterFit {
  public:
    /// `estimator` must outlive this. Rows without an estimate, and those of power and energy, take no part
    /// in fits; `predict` answers for all.
    ParameterFit(const RowEstimator& estimator, std::vector<MeasuredRow> rows,
                 std::vector<TunedParameter> parameters, unsigned threads);

    const std::vector<MeasuredRow>& rows() const { return rows_; }
    const std::vector<TunedParameter>& parameters() const { return parameters_; }
    /// Weight of every row in a fit; 0 where it takes no part.
    std::vector<double> weights() const;
    std::vector<double> start() const;
    bool used(std::size_t parameter) const;
    bool uses(std::size_t row, std::size_t parameter) const;
    /// The same, or a chip's own value that deviates from it.
    bool touches(std::size_t row, std::size_t parameter) const;

    FitResult fit(const std::vector<double>& weights, const std::vector<double>& start,
                  const FitOptions& options = {});
    /// Adds chips' own values, which start where what they deviate from stands; `at` with columns for them.
    FitResult with_own(std::vector<TunedParameter> own, const FitResult& at);
    /// The fit with other weights, from the shares of each row's time that the parameters price at the
    /// solution `full`: no row is estimated again. Chips' own values count where a row is `wanted` (all where
    /// it is empty): see fit_on_shares.
    FitResult refit(const std::vector<double>& weights, const FitResult& full, const FitOptions& options = {},
                    const std::vector<char>& wanted = {}) const;
    /// `changes` are made to the row's device besides.
    Prediction predict(std::size_t row, std::span<const double> values,
                       const MachineChanges& changes = {}) const;
    /// Residuals at `values`, and d log(prediction) / d log(parameter), row by row; 0 for rows that take no
    /// part.
    FitResult linearised(std::vector<double> values);

  private:
    struct Memory { // of one row: parameter values -> residual
        std::vector<std::vector<double>> keys;
        std::vector<double> residuals;
        std::size_t next = 0;
    };

    std::vector<FitVariable> variables(const std::vector<double>& start) const;
    void residuals(std::span<const double> values, std::span<double> out);
    double residual(std::size_t row, std::span<const double> values);

    const RowEstimator& estimator_;
    std::vector<MeasuredRow> rows_;
    std::vector<TunedParameter> parameters_;
    unsigned threads_;
    std::vector<std::vector<std::size_t>> used_; ///< parameters of each row
    std::vector<char> fitted_;                   ///< rows that take part
    std::vector<Memory> memory_;
    std::vector<double> rows_alike_;   ///< of each row: how many its chip, stack and source have
    std::vector<std::size_t> parents_; ///< of each parameter
};

/// True for parameters that say how fast, false for those that say what a stack does (switches, block sizes,
/// widths of formats): no fit varies these.
bool is_continuous(Parameter parameter);

/// Expectation for a parameter from what other statements of its family say; spread 0 when there are none.
struct Expectation {
    double value = 1, spread = 0;
};
/// Median and spread of values above zero: one device of another kind must not move what to expect. Stacks
/// that state one fit, or copy each other's estimates, say a thing once. Worked: 0.5, 0.5, 0.6 and 0.72 for
/// an efficiency give 0.6; their logarithms scatter by 0.18, which counts as the least of 0.3.
Expectation summarize_statements(std::vector<double> values, Parameter parameter);
/// The statements of the likest others about a parameter; among these, estimates (SourceKind::assumed) count
/// only where nothing measured, published or derived speaks.
Expectation expect(const Session& session, Family family, const std::vector<ParameterSite>& own);
/// The same of all other families; spread 0 when none of them states it.
Expectation expect_elsewhere(const Session& session, Family family, Parameter parameter);

/// How far chips lie from what their stack says of all: the spread under which left-out networks and sources
/// of tests/measured are predicted best.
inline constexpr double kOwnSpread = 0.15;
std::string file_of(const HardwareDatabase& hardware, const ParameterSite& site);

/// Rows whose device and stack the database knows.
std::vector<MeasuredRow> known_rows(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows);

/// The continuous parameters above zero that decide these rows and that `take` accepts, each value fitted
/// together with others (the same parameter, value, n and error) once.
std::vector<TunedParameter>
stated_parameters(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                  const std::function<bool(const ParameterSite&, const Fact&)>& take);
/// Those marked `fitted`.
std::vector<TunedParameter> fitted_parameters(const RowEstimator& estimator,
                                              const std::vector<MeasuredRow>& rows);

} // namespace archsim
