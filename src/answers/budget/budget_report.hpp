#pragma once
// Budgets and what moved since a baseline, as report blocks (Markdown: a summary for a pull request), as a
// JSON document, as JUnit XML for the test pages of CI systems, and as SARIF for their pages of findings.

#include "answers/budget/check_budget.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>
#include <vector>

namespace archsim {

/// What of it is shown.
struct BudgetView {
    int top = 5; ///< rows of the tables of blocks; 0: all
};

/// CSV: one row per rule and estimate.
Report describe(const BudgetAnswer& answer, const BudgetView& view, Format format = Format::text);
/// {"schema": "archsim.check_budget/1", ...}
std::string to_json(const BudgetAnswer& answer, const BudgetView& view);
/// A test suite per estimate, a test case per rule; "no baseline" is skipped.
std::string to_junit(const BudgetAnswer& answer);
/// SARIF 2.1.0, for the pages of code hosts that show findings: a rule per budget, a result per failure, at
/// the file of the model.
std::string to_sarif(const BudgetAnswer& answer);

/// "FAILED: 1 of 4 budgets exceeded."
std::string budget_headline(const BudgetAnswer& answer);
/// That, and the first budgets that are exceeded.
std::vector<std::string> budget_lines(const BudgetAnswer& answer);
/// "latency>+5%: latency 1.2 ms, limit 1.1 ms, before 1.05 ms (+14 %)"
std::string outcome_text(const BudgetOutcome& outcome);

} // namespace archsim
