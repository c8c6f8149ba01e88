#include "answers/budget/budget.hpp"

#include "archsim/compare/decisions.hpp"
#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"
#include "result/duty_cycle.hpp"
#include "result/generation_metrics.hpp"
#include "result/ties.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

constexpr double kSmallestDifference = 1e-9; ///< relative; less than that is rounding, not growth

/// "+5%" -> 0.05
static double parse_share(std::string_view text, const std::string& form) {
    const auto value = plain_number<double>(text);
    if (!value)
        throw UsageError(form);
    return *value / 100;
}

static const Measure* measure_in(const EstimateRecord* record, const Metric& metric) {
    if (record == nullptr)
        return nullptr;
    const auto found = record->values.find(metric.key);
    return found == record->values.end() ? nullptr : &found->second;
}

static std::optional<double> value_in(const EstimateRecord* record, const Metric& metric) {
    const Measure* const measure = measure_in(record, metric);
    return measure == nullptr ? std::nullopt : std::optional(measure->value);
}

static bool same_question(const EstimateRecord& a, const EstimateRecord& b) {
    return a.model == b.model && a.hardware == b.hardware && a.precision == b.precision &&
           a.batch == b.batch && a.stack == b.stack &&
           (a.question.empty() || b.question.empty() || a.question == b.question);
}

/// The estimate of the baseline to compare with: the same question; where only the stack's default has
/// changed since, that is part of what moved.
static const EstimateRecord* find_record(const std::vector<EstimateRecord>& baseline,
                                         const EstimateRecord& record) {
    const auto exact = std::ranges::find_if(
        baseline, [&](const EstimateRecord& other) { return same_question(other, record); });
    if (exact != baseline.end())
        return &*exact;
    EstimateRecord any_stack = record;
    for (const EstimateRecord& other : baseline) {
        any_stack.stack = other.stack;
        if (same_question(other, any_stack))
            return &other;
    }
    return nullptr;
}

/// Why the baseline has nothing to compare an estimate with.
static std::string nothing_to_compare(const std::vector<EstimateRecord>& baseline,
                                      const EstimateRecord& asked) {
    const auto other = std::ranges::find_if(baseline, [&](const EstimateRecord& one) {
        return one.model == asked.model && one.hardware == asked.hardware;
    });
    if (other == baseline.end())
        return fmt::format("the baseline has no {} on {}", asked.model, asked.hardware);
    const auto brief = [](const EstimateRecord& r) {
        return fmt::format("batch {:.0f} in {}", r.batch, precision_name(r.precision));
    };
    const bool alike = brief(*other) == brief(asked);
    return fmt::format("the baseline has {}, asked was {}", alike ? other->question : brief(*other),
                       alike ? asked.question : brief(asked));
}

static std::vector<const Metric*> explained(const std::vector<BudgetRule>& rules) {
    std::vector<const Metric*> metrics = distinct(
        kept(rules, [](const BudgetRule& rule) { return rule.metric->has_causes; }), &BudgetRule::metric);
    if (metrics.empty())
        metrics = {&metric::latency, &metric::memory};
    return metrics;
}

static void add_moves(const std::vector<BudgetRule>& rules, BudgetedEstimate& estimate) {
    for (const Metric* metric : explained(rules)) {
        const auto before = estimate.before->values.find(metric->key),
                   after = estimate.after->values.find(metric->key);
        if (before != estimate.before->values.end() && after != estimate.after->values.end() &&
            before->second.value != after->second.value)
            estimate.moved.push_back(explain_difference(*estimate.before, *estimate.after, *metric));
    }
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
    rule.metric = &every_metric().at(text.substr(0, at), flag);
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

std::string BudgetedEstimate::title() const {
    return fmt::format("{} on {}", after ? after->model : result.model->name,
                       after ? after->hardware : result.hardware);
}

std::size_t BudgetAnswer::failures() const {
    return count(BudgetStatus::exceeded) + count(BudgetStatus::no_baseline) + count(BudgetStatus::no_value);
}

std::size_t BudgetAnswer::count(BudgetStatus status) const {
    std::size_t all = 0;
    for (const BudgetedEstimate& estimate : estimates)
        for (const BudgetOutcome& outcome : estimate.outcomes)
            all += outcome.status == status ? 1 : 0;
    return all;
}

BudgetAnswer check_budget(const Session& session, BudgetRequest request) {
    for (const BudgetRule& rule : request.rules)
        if (rule.needs_baseline() && request.baseline.empty())
            throw UsageError(fmt::format("--fail-on {}: a change needs a --baseline to be measured against "
                                         "(write one with --save-baseline)",
                                         rule.text));
    if (request.conditions.duty.stated()) // a rate is a limit, whatever else is
        request.rules.push_back(
            {.text = std::string(kRateRule), .metric = &metric::time_at_work, .limit = 1});
    std::vector<EstimateRecord> baseline;
    if (!request.baseline.empty())
        baseline = read_baseline(request.baseline);
    BudgetAnswer answer;
    const auto devices = mapped(
        request.hardware, [&](const std::string& name) { return session.hardware().device(name).device; });
    request.cost = on_one_basis(devices, std::move(request.cost));
    auto models = mapped(request.models, [&](const std::string& name) { return session.load(name); });
    for (std::size_t m = 0; m < models.size(); ++m) {
        const std::string& name = request.models[m];
        Workload workload = request.workload;
        workload.model = models[m];
        workload = usual_question(of_shared_sizes(std::move(workload), models));
        for (const std::string& hardware : request.hardware) {
            Conditions conditions = request.conditions;
            conditions.keep_subgraphs = true;
            BudgetedEstimate estimate;
            estimate.asked = name;
            estimate.result = session.estimate(workload, hardware, conditions);
            if (estimate.result.ok()) {
                estimate.after = record_of(estimate.result, request.cost);
                // A device in its usual mode has two names, of which a baseline needs one.
                if (const std::string& mode = estimate.result.power_mode;
                    !mode.empty() && hardware.find('@') == std::string::npos)
                    estimate.after->hardware.insert(hardware.size(), "@" + mode);
                if (request.question_of)
                    estimate.after->question = request.question_of(estimate.result);
                if (const EstimateRecord* found = find_record(baseline, *estimate.after))
                    estimate.before = *found;
            }
            for (const BudgetRule& rule : request.rules) {
                BudgetOutcome& outcome = estimate.outcomes.emplace_back(
                    apply(rule, estimate.before ? &*estimate.before : nullptr,
                          estimate.after ? &*estimate.after : nullptr, request.certainty));
                if (outcome.status == BudgetStatus::no_value)
                    outcome.reason = estimate.result.estimate.reason;
                else if (outcome.status == BudgetStatus::no_baseline && !estimate.before)
                    outcome.reason = nothing_to_compare(baseline, *estimate.after);
            }
            // The time that a rate leaves idle has no cause among those of estimates.
            if (estimate.before && estimate.after && !conditions.duty.stated())
                add_moves(request.rules, estimate);
            answer.estimates.push_back(std::move(estimate));
        }
    }
    answer.request = std::move(request);
    return answer;
}

} // namespace archsim
