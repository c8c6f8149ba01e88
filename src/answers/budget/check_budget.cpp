#include "answers/budget/check_budget.hpp"

#include "archsim/compare/cost.hpp"
#include "archsim/core/finding.hpp"
#include "session/prepared.hpp"
#include "session/usual_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace archsim {

namespace {

bool same_question(const EstimateRecord& a, const EstimateRecord& b) {
    return a.model == b.model && a.hardware == b.hardware && a.precision == b.precision &&
           a.batch == b.batch && a.stack == b.stack &&
           (a.question.empty() || b.question.empty() || a.question == b.question);
}

/// The estimate of the baseline to compare with: the same question; where only the stack's default has
/// changed since, that is part of what moved.
const EstimateRecord* find_record(const std::vector<EstimateRecord>& baseline, const EstimateRecord& record) {
    const auto exact = std::find_if(baseline.begin(), baseline.end(), [&](const EstimateRecord& other) {
        return same_question(other, record);
    });
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

/// Metrics worth an explanation.
std::vector<const Metric*> explained(const std::vector<BudgetRule>& rules) {
    std::vector<const Metric*> metrics;
    for (const BudgetRule& rule : rules)
        if (rule.metric->has_causes &&
            std::find(metrics.begin(), metrics.end(), rule.metric) == metrics.end())
            metrics.push_back(rule.metric);
    if (metrics.empty())
        metrics = {&metric::latency, &metric::memory};
    return metrics;
}

void add_moves(const std::vector<BudgetRule>& rules, BudgetedEstimate& estimate) {
    for (const Metric* metric : explained(rules)) {
        const auto before = estimate.before->values.find(metric->key),
                   after = estimate.after->values.find(metric->key);
        if (before != estimate.before->values.end() && after != estimate.after->values.end() &&
            before->second.value != after->second.value)
            estimate.moved.push_back(explain_difference(*estimate.before, *estimate.after, *metric));
    }
}

} // namespace

std::string BudgetedEstimate::title() const {
    return fmt::format("{} on {}", after ? after->model : result.model->name,
                       after ? after->hardware : result.hardware);
}

std::size_t BudgetAnswer::failures() const {
    std::size_t count = 0;
    for (const BudgetedEstimate& estimate : estimates)
        for (const BudgetOutcome& outcome : estimate.outcomes)
            count += outcome.failed() ? 1 : 0;
    return count;
}

BudgetAnswer check_budget(const Session& session, BudgetRequest request) {
    for (const BudgetRule& rule : request.rules)
        if (rule.needs_baseline() && request.baseline.empty())
            throw UsageError(fmt::format("--fail-on {}: a change needs a --baseline to be measured against "
                                         "(write one with --save-baseline)",
                                         rule.text));
    std::vector<EstimateRecord> baseline;
    if (!request.baseline.empty())
        baseline = read_baseline(request.baseline);
    BudgetAnswer answer;
    std::vector<std::shared_ptr<const Device>> devices;
    for (const std::string& hardware : request.hardware)
        devices.push_back(session.hardware().device(hardware).device);
    request.cost = on_one_basis(devices, std::move(request.cost));
    std::vector<Model> models;
    for (const std::string& name : request.models)
        models.push_back(session.load(name));
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
                if (request.question_of)
                    estimate.after->question = request.question_of(estimate.result);
                if (const EstimateRecord* found = find_record(baseline, *estimate.after))
                    estimate.before = *found;
            }
            for (const BudgetRule& rule : request.rules)
                estimate.outcomes.push_back(apply(rule, estimate.before ? &*estimate.before : nullptr,
                                                  estimate.after ? &*estimate.after : nullptr,
                                                  request.certainty));
            if (estimate.before && estimate.after)
                add_moves(request.rules, estimate);
            answer.estimates.push_back(std::move(estimate));
        }
    }
    answer.request = std::move(request);
    return answer;
}

} // namespace archsim
