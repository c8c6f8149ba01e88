#include "answers/budget/budget.hpp"

#include "answers/difference/attribution.hpp"
#include "answers/difference/difference_report.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "result/cost_terms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

namespace {

Cell optional_value(const Metric& metric, const std::optional<double>& value) {
    return value ? Cell{format_value(metric, *value), *value} : Cell{};
}

Cell change_cell(const std::optional<double>& before, const std::optional<double>& after) {
    if (!before || !after)
        return {};
    return {*before != 0 ? signed_percent(*after / *before - 1) : "-", *after - *before};
}

Table rule_table(const BudgetAnswer& answer) {
    struct Row {
        const BudgetedEstimate& estimate;
        const BudgetOutcome& outcome;
    };
    std::vector<Row> rows;
    for (const BudgetedEstimate& e : answer.estimates)
        for (const BudgetOutcome& o : e.outcomes)
            rows.push_back({e, o});
    const auto value = [](std::optional<double> BudgetOutcome::*of) {
        return [of](const Row& r) { return optional_value(*r.outcome.rule.metric, r.outcome.*of); };
    };
    return table_of<Row>("Budgets",
                         {{{"Estimate", "", "estimate"}, [](const Row& r) { return r.estimate.title(); }},
                          {{"Fails on", "", "rule"}, [](const Row& r) { return r.outcome.rule.text; }},
                          {least_best("Before", "", "before"), value(&BudgetOutcome::before)},
                          {least_best("After", "", "after"), value(&BudgetOutcome::after)},
                          {least_best("Change", "", "change"),
                           [](const Row& r) { return change_cell(r.outcome.before, r.outcome.after); }},
                          {least_best("Limit", "", "limit", 1), value(&BudgetOutcome::limit)},
                          {most_best("Kept", "", "chance", 1),
                           [](const Row& r) {
                               const auto& chance = r.outcome.chance;
                               return chance ? Cell{fmt::format("{:.0f} %", *chance * 100), *chance} : Cell{};
                           }},
                          {{"Status", "", "status"},
                           [](const Row& r) {
                               return Cell{std::string(name_of(r.outcome.status)),
                                           {},
                                           r.outcome.failed() ? Tone::bad : Tone::good};
                           }}},
                         rows);
}

/// Every metric that both have.
Table metric_changes(const BudgetedEstimate& e) {
    struct Row {
        const Metric* metric;
        std::optional<double> before;
        double after;
    };
    std::vector<Row> rows;
    for (const Metric* metric : MetricTable::standard().rows()) {
        const auto after = e.after->values.find(metric->key);
        if (after == e.after->values.end())
            continue;
        std::optional<double> before;
        if (const auto found = e.before->values.find(metric->key); found != e.before->values.end())
            before = found->second.value;
        if (before != after->second.value)
            rows.push_back({metric, before, after->second.value});
    }
    return table_of<Row>(
        {},
        {{{"Metric", "", "metric"}, [](const Row& r) { return r.metric->title; }},
         {least_best("Before", "", "before"),
          [](const Row& r) { return optional_value(*r.metric, r.before); }},
         {least_best("After", "", "after"), [](const Row& r) { return optional_value(*r.metric, r.after); }},
         {least_best("Change", "", "change"), [](const Row& r) { return change_cell(r.before, r.after); }}},
        rows);
}

void add_estimate(const BudgetedEstimate& e, const BudgetView& view, Report& report) {
    report.blocks.push_back(Heading{2, e.title()});
    if (!e.after) {
        report.blocks.push_back(
            Paragraph{fmt::format("Does not run: {}.", e.result.estimate.reason), Tone::bad});
        return;
    }
    if (!e.before) {
        report.blocks.push_back(
            Paragraph{fmt::format("Latency {}, memory {}; no baseline to compare with.",
                                  format_value(metric::latency, e.after->values.at("latency").value),
                                  format_value(metric::memory, e.after->values.at("memory").value))});
        return;
    }
    Table changes = metric_changes(e);
    if (changes.rows.empty()) {
        report.blocks.push_back(Paragraph{"Nothing moved."});
        return;
    }
    report.blocks.push_back(std::move(changes));
    const SideLabels labels = labels_of(*e.before, *e.after);
    for (const Difference& d : e.moved) {
        report.blocks.push_back(Heading{3, fmt::format("Why {} moved", d.attribution.metric->noun)});
        report.blocks.push_back(Paragraph{fmt::format("{}", fmt::join(difference_lines(d, labels), " "))});
        if (Bullets sentences = block_sentences(d); !sentences.items.empty())
            report.blocks.push_back(std::move(sentences));
        report.blocks.push_back(cause_table(d, labels, kSmallPart));
        if (!d.blocks.empty())
            report.blocks.push_back(block_table(d, view.top));
    }
}

/// How a cost was reckoned, where a budget is one of cost.
std::string budget_cost_basis(const BudgetAnswer& answer) {
    const auto& rules = answer.request.rules;
    if (std::none_of(rules.begin(), rules.end(),
                     [](const BudgetRule& rule) { return *rule.metric == metric::cost; }))
        return "";
    std::vector<Result> results;
    for (const BudgetedEstimate& e : answer.estimates)
        results.push_back(e.result);
    return cost_basis(results, answer.request.cost);
}

} // namespace

std::string budget_headline(const BudgetAnswer& answer) {
    const std::size_t failures = answer.failures(),
                      rules = answer.request.rules.size() * answer.estimates.size();
    if (rules == 0)
        return "No budget was asked for.";
    return failures == 0 ? fmt::format("Passed: {} of {} budgets kept.", rules, rules)
                         : fmt::format("FAILED: {} of {} budgets exceeded.", failures, rules);
}

std::vector<std::string> budget_lines(const BudgetAnswer& answer) {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> lines = {budget_headline(answer)};
    if (std::string basis = budget_cost_basis(answer); !basis.empty())
        lines.push_back(std::move(basis));
    for (const BudgetedEstimate& e : answer.estimates)
        for (const BudgetOutcome& o : e.outcomes)
            if (o.failed() && lines.size() <= kNamed)
                lines.push_back(fmt::format("{}: {}.", e.title(), outcome_text(o)));
    return lines;
}

std::string outcome_text(const BudgetOutcome& o) {
    const Metric& metric = *o.rule.metric;
    switch (o.status) {
    case BudgetStatus::no_value:
        return fmt::format("{}: no {}", o.rule.text, metric.noun);
    case BudgetStatus::no_baseline:
        return fmt::format("{}: the baseline has no such estimate", o.rule.text);
    default:
        break;
    }
    const std::string before = o.before ? fmt::format(", before {} ({})", format_value(metric, *o.before),
                                                      change_cell(o.before, o.after).text)
                                        : "";
    const std::string chance =
        o.chance ? fmt::format(", kept with {:.0f} % probability", *o.chance * 100) : "";
    return fmt::format("{}: {} {}, limit {}{}{}", o.rule.text, metric.noun, format_value(metric, *o.after),
                       format_value(metric, *o.limit), before, chance);
}

Report describe(const BudgetAnswer& answer, const BudgetView& view, Format format) {
    Report report;
    if (format == Format::csv) {
        report.blocks.push_back(rule_table(answer));
        return report;
    }
    report.title = "BUDGETS";
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(Takeaway{budget_lines(answer)});
    if (!answer.request.rules.empty())
        report.blocks.push_back(rule_table(answer));
    for (const BudgetedEstimate& estimate : answer.estimates)
        add_estimate(estimate, view, report);
    return report;
}

} // namespace archsim
