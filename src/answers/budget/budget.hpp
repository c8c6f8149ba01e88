#pragma once
// Budgets of estimates: what a change may cost at most, in itself or against a baseline.
//
//   latency>5ms        fails above 5 ms
//   latency>+5%        fails where latency grew by more than 5 % of the baseline's
//   memory>+64MB       fails where memory grew by more than 64 MB
//   throughput<-2%     fails where throughput fell by more than 2 %

#include "answers/difference/difference.hpp"
#include "answers/difference/estimate_record.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

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

/// The rule of a question that states a rate, whatever else is asked.
inline constexpr std::string_view kRateRule = "time at work>100%";

enum class BudgetStatus : std::uint8_t {
    kept,
    exceeded,
    no_baseline, ///< the baseline has no such estimate: nothing was compared, which is no success: a failure
    no_value, ///< the estimate has no such metric (it does not run, or nobody published a price): a failure
};
template <>
struct NamesOf<BudgetStatus> {
    static constexpr std::array<std::string_view, 4> all = {"kept", "exceeded", "no baseline", "no value"};
};

struct BudgetOutcome {
    BudgetRule rule;
    BudgetStatus status = BudgetStatus::kept;
    std::optional<double> before, after;
    std::optional<double> limit; ///< in the metric's unit: that of a change added to the value before
    /// That the limit of a value is kept, from the interval of the estimate (Verdict::probability); of
    /// changes nothing, for what both estimates have wrong cancels in them.
    std::optional<double> chance;
    std::string reason; ///< why there is no value, or nothing to compare with; else empty

    /// True where the check fails.
    bool failed() const { return status != BudgetStatus::kept; }
};

/// `baseline` and `now` may be null: not in the baseline; does not run. Worked: latency>+5% with 10 ms
/// before: limit 10.5 ms, so that 10.6 ms fails. With a `certainty` above 0 a limit of a value is exceeded
/// where it is kept with a lower probability than that: at 0.9, 10 ms with an interval from 7 to 14 ms keep
/// latency>11ms with 0.71, which fails.
BudgetOutcome apply(const BudgetRule& rule, const EstimateRecord* baseline, const EstimateRecord* now,
                    double certainty = 0);

// Estimates held against budgets and against a baseline of an earlier day: what moved, why, and whether that
// is allowed. For tests that run with every change of a model.

/// The question: every model on every device.
struct BudgetRequest {
    std::vector<std::string> models, hardware;
    Workload workload = {};
    Conditions conditions = {};
    std::vector<BudgetRule> rules;
    std::filesystem::path baseline; ///< empty: none
    std::filesystem::path saved;    ///< where the caller writes the estimates as a baseline; empty: nowhere
    double certainty = 0;           ///< with which limits of values must be kept; 0: the estimate decides
    CostOptions cost = {};
    /// The question in one text, the stack left out; a baseline's estimate of another question is none to
    /// compare with. Empty: model, device, format, batch and stack tell questions apart.
    std::function<std::string(const Result&)> question_of = {};
};

struct BudgetedEstimate {
    std::string asked; ///< the model as it was named: a file, or a name of the catalogue
    Result result;
    std::optional<EstimateRecord>
        before; ///< of the baseline, where it has this model, device, format and batch
    std::optional<EstimateRecord> after; ///< absent where it does not run
    std::vector<BudgetOutcome> outcomes; ///< per rule
    /// Differences that can be explained, of the metrics that rules name or, without rules, of latency and
    /// memory; only where something changed.
    std::vector<Difference> moved;

    /// "resnet18 on H100"
    std::string title() const;
};

struct BudgetAnswer {
    BudgetRequest request;
    std::vector<BudgetedEstimate> estimates; ///< model by model

    std::size_t failures() const;
    std::size_t count(BudgetStatus status) const;
};

/// Throws InputError for unknown names and a baseline that cannot be read, UsageError for a rule about
/// changes without a baseline. A model that does not run fails every rule; it does not stop the others.
BudgetAnswer check_budget(const Session& session, BudgetRequest request);

/// The estimates of an answer as a baseline: a JSON document that read_baseline() reads back to the same
/// numbers.
std::string baseline_json(const BudgetAnswer& answer);
/// Throws InputError that names the file and the place of what is wrong.
std::vector<EstimateRecord> read_baseline(const std::filesystem::path& file);

// Budgets and what moved since a baseline, as report blocks (Markdown: a summary for a pull request), as a
// JSON document, as JUnit XML for the test pages of CI systems, and as SARIF for their pages of findings.

struct BudgetView {
    int top = 5; ///< rows of the tables of blocks; 0: all
};

/// CSV: one row per rule and estimate.
Report describe(const BudgetAnswer& answer, const BudgetView& view, Format format = Format::text);
/// {"schema": "archsim.check_budget/1", ...}
AnswerDocument document_of(const BudgetAnswer& answer, const BudgetView& view);
/// A test suite per estimate, a test case per rule.
std::string to_junit(const BudgetAnswer& answer);
/// SARIF 2.1.0, for the pages of code hosts that show findings: a rule per budget, a result per failure, at
/// the file of the model.
std::string to_sarif(const BudgetAnswer& answer);

/// "FAILED: 1 of 4 budgets exceeded, 2 not compared."
std::string budget_headline(const BudgetAnswer& answer);
/// That, and the first budgets that are exceeded.
std::vector<std::string> budget_lines(const BudgetAnswer& answer);
/// "latency>+5%: latency 1.2 ms, limit 1.1 ms, before 1.05 ms (+14 %)"
std::string outcome_text(const BudgetOutcome& outcome, const Result& result);

} // namespace archsim
