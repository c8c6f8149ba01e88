#include "answers/budget/budget.hpp"

#include "archsim/compare/decisions.hpp"
#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "result/chance.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace archsim {

namespace {

constexpr double kSmallestDifference = 1e-9; ///< relative; less than that is rounding, not growth

/// "+5%" -> 0.05
double parse_share(std::string_view text, const std::string& form) {
    const auto value = plain_number<double>(text);
    if (!value)
        throw UsageError(form);
    return *value / 100;
}

const Measure* measure_in(const EstimateRecord* record, const Metric& metric) {
    if (record == nullptr)
        return nullptr;
    const auto found = record->values.find(metric.key);
    return found == record->values.end() ? nullptr : &found->second;
}

std::optional<double> value_in(const EstimateRecord* record, const Metric& metric) {
    const Measure* const measure = measure_in(record, metric);
    return measure == nullptr ? std::nullopt : std::optional(measure->value);
}

} // namespace

std::string_view name_of(BudgetStatus status) {
    static constexpr std::array<std::string_view, 4> kNames = {"kept", "exceeded", "no baseline", "no value"};
    return kNames[static_cast<std::size_t>(status)];
}

BudgetRule parse_budget_rule(std::string_view text, std::string_view flag) {
    const std::string form = fmt::format(
        "{}: \"{}\" is not METRIC>LIMIT or METRIC<LIMIT, like latency>+5% or memory>512MB", flag, text);
    const auto at = text.find_first_of("<>");
    if (at == std::string_view::npos || at == 0 || at + 1 == text.size())
        throw UsageError(form);
    BudgetRule rule;
    rule.text = text;
    rule.above = text[at] == '>';
    rule.metric = &MetricTable::standard().at(text.substr(0, at), flag);
    std::string_view limit = text.substr(at + 1);
    const bool change = limit.front() == '+' || limit.front() == '-';
    if (!change) {
        rule.limit = parse_constraint(*rule.metric, limit, flag).limit;
        return rule;
    }
    const double sign = limit.front() == '-' ? -1 : 1;
    limit.remove_prefix(1);
    if (limit.empty())
        throw UsageError(form);
    rule.of = limit.back() == '%' ? BudgetLimit::relative : BudgetLimit::change;
    rule.limit =
        sign * (rule.of == BudgetLimit::relative ? parse_share(limit.substr(0, limit.size() - 1), form)
                                                 : parse_constraint(*rule.metric, limit, flag).limit);
    return rule;
}

BudgetOutcome apply(const BudgetRule& rule, const EstimateRecord* baseline, const EstimateRecord* now,
                    double certainty) {
    BudgetOutcome out;
    out.rule = rule;
    out.before = value_in(baseline, *rule.metric);
    out.after = value_in(now, *rule.metric);
    if (rule.of == BudgetLimit::value)
        out.limit = rule.limit;
    else if (out.before)
        out.limit = rule.of == BudgetLimit::change ? *out.before + rule.limit
                                                   : *out.before + rule.limit * std::abs(*out.before);
    if (!out.after) {
        out.status = BudgetStatus::no_value;
    } else if (!out.limit) {
        out.status = BudgetStatus::no_baseline;
    } else {
        const double over = (*out.after - *out.limit) * (rule.above ? 1 : -1);
        if (over > kSmallestDifference * std::abs(*out.limit))
            out.status = BudgetStatus::exceeded;
        // Limits from 0 down have no logarithm, and nothing that has an interval goes there.
        if (rule.of == BudgetLimit::value && *out.limit > 0 && *out.after > 0) {
            const double at_most =
                probability_at_most(*out.limit, *out.after, measure_in(now, *rule.metric)->interval);
            out.chance = rule.above ? at_most : 1 - at_most;
            if (certainty > 0)
                out.status = *out.chance < certainty ? BudgetStatus::exceeded : BudgetStatus::kept;
        }
    }
    return out;
}

} // namespace archsim
