#pragma once
#include "answers/budget/check_budget.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "FAILED: 1 of 4 budgets exceeded."
std::string budget_headline(const BudgetAnswer& answer);
/// That, and the first budgets that are exceeded.
std::vector<std::string> budget_lines(const BudgetAnswer& answer);
/// "latency>+5%: latency 1.2 ms, limit 1.1 ms, before 1.05 ms (+14 %)"
std::string outcome_text(const BudgetOutcome& outcome);

} // namespace archsim
