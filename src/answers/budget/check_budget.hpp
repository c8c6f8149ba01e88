#pragma once
// Estimates held against budgets and against a baseline of an earlier day: what moved, why, and whether that
// is allowed. For tests that run with every change of a model.

#include "answers/budget/budget.hpp"
#include "answers/difference/difference.hpp"
#include "archsim/run/session.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What is asked: every model on every device.
struct BudgetRequest {
    std::vector<std::string> models, hardware;
    Workload workload = {};
    Conditions conditions = {};
    std::vector<BudgetRule> rules;
    std::filesystem::path baseline; ///< empty: none
    double certainty = 0;           ///< with which limits of values must be kept; 0: the estimate decides
    CostOptions cost = {};
    /// What was asked in one text, the stack left out; a baseline's estimate of another question is none to
    /// compare with. Empty: model, device, format, batch and stack tell questions apart.
    std::function<std::string(const Result&)> question_of = {};
};

/// One estimate, before and after.
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

/// Every estimate with its outcomes.
struct BudgetAnswer {
    BudgetRequest request;
    std::vector<BudgetedEstimate> estimates; ///< model by model

    /// Outcomes that fail.
    std::size_t failures() const;
};

/// Throws InputError for unknown names and a baseline that cannot be read, UsageError for a rule about
/// changes without a baseline. A model that does not run fails every rule; it does not stop the others.
BudgetAnswer check_budget(const Session& session, BudgetRequest request);

/// The estimates of an answer as a baseline: a JSON document that read_baseline() reads back to the same
/// numbers.
std::string baseline_json(const BudgetAnswer& answer);
/// Throws InputError that names the file and the place of what is wrong.
std::vector<EstimateRecord> read_baseline(const std::filesystem::path& file);

} // namespace archsim
