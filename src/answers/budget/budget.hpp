#pragma once
// Budgets of estimates: what a change may cost at most, in itself or against a baseline.
//
//   latency>5ms        fails above 5 ms
//   latency>+5%        fails where latency grew by more than 5 % of the baseline's
//   memory>+64MB       fails where memory grew by more than 64 MB
//   throughput<-2%     fails where throughput fell by more than 2 %

#include "answers/difference/estimate_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace archsim {

/// What the limit of a rule is a limit of.
enum class BudgetLimit : std::uint8_t {
    value,    ///< the metric itself, in its SI unit
    change,   ///< after - before, likewise
    relative, ///< (after - before) / before
};

/// One "fail on".
struct BudgetRule {
    std::string text; ///< as given
    const Metric* metric = nullptr;
    bool above = true; ///< fails above the limit; false: below
    BudgetLimit of = BudgetLimit::value;
    double limit = 0;

    /// True for rules that say nothing without a baseline.
    bool needs_baseline() const { return of != BudgetLimit::value; }
};

/// Parses "METRIC>LIMIT" and "METRIC<LIMIT" with limits like 5ms, 512MB, +5%, +2ms, -3%. Throws UsageError
/// naming `flag` and the form expected.
BudgetRule parse_budget_rule(std::string_view text, std::string_view flag);

enum class BudgetStatus : std::uint8_t {
    kept,
    exceeded,
    no_baseline, ///< the baseline has no such estimate: nothing to compare with, no failure
    no_value, ///< the estimate has no such metric (it does not run, or nobody published a price): a failure
};
std::string_view name_of(BudgetStatus status);

/// A rule applied to one estimate.
struct BudgetOutcome {
    BudgetRule rule;
    BudgetStatus status = BudgetStatus::kept;
    std::optional<double> before, after;
    std::optional<double> limit; ///< in the metric's unit: that of a change added to the value before
    /// That the limit of a value is kept, from the interval of the estimate (Verdict::probability); of
    /// changes nothing, for what both estimates have wrong cancels in them.
    std::optional<double> chance;

    /// True where the check fails.
    bool failed() const { return status == BudgetStatus::exceeded || status == BudgetStatus::no_value; }
};

/// `baseline` and `now` may be null: not in the baseline; does not run. Worked: latency>+5% with 10 ms
/// before: limit 10.5 ms, so that 10.6 ms fails. With a `certainty` above 0 a limit of a value is exceeded
/// where it is kept with a lower probability than that: at 0.9, 10 ms with an interval from 7 to 14 ms keep
/// latency>11ms with 0.71, which fails.
BudgetOutcome apply(const BudgetRule& rule, const EstimateRecord* baseline, const EstimateRecord* now,
                    double certainty = 0);

} // namespace archsim
