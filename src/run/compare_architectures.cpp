#include "archsim/run/compare_architectures.hpp"

#include "archsim/core/finding.hpp"
#include "run/architecture_choice.hpp"
#include "run/batch_sweep.hpp"
#include "run/flips.hpp"
#include "run/sensitivity.hpp"
#include "run/subject.hpp"
#include "run/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace archsim {

namespace {

std::optional<std::size_t> choose_baseline(const ArchitectureComparison& c,
                                           const std::vector<ArchitectureChoice>& choices) {
    if (!c.request.baseline.empty())
        return find_architecture(choices, c.request.baseline, "--baseline");
    const auto fastest = find_winner(c.results, Objective::latency);
    return fastest ? std::optional(fastest->best) : std::nullopt;
}

void add_regions(ArchitectureComparison& c) {
    std::vector<const Result*> estimated;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (c.results[i].ok()) {
            c.compared.push_back(i);
            estimated.push_back(&c.results[i]);
        }
    c.regions = common_regions(estimated);
}

/// Latency where time is asked for, else energy: what adds up over regions.
Objective regional(Objective metric) {
    return metric == Objective::latency || metric == Objective::throughput ? Objective::latency
                                                                           : Objective::energy;
}

void add_hybrids(ArchitectureComparison& c) {
    for (std::size_t a = 0; a < c.results.size(); ++a)
        for (std::size_t b = a + 1; b < c.results.size(); ++b)
            if (auto split = best_split(c.results[a], c.results[b], regional(c.request.metric)))
                c.hybrids.push_back({a, b, std::move(*split)});
    std::stable_sort(c.hybrids.begin(), c.hybrids.end(),
                     [](const HybridPair& x, const HybridPair& y) { return x.split.value < y.split.value; });
}

/// The latency limit of the request, which bounds the best batch too.
std::optional<double> latency_bound(const DecisionRequest& decision) {
    for (const Constraint& constraint : decision.constraints)
        if (constraint.objective == Objective::latency)
            return constraint.limit;
    return std::nullopt;
}

/// Throws InputError where one of the two has no value to explain.
Explanation explain(const ArchitectureComparison& c, std::size_t a, std::size_t b, const RunOptions& options,
                    SubjectAtBatches& subjects) {
    const CompareArchitecturesRequest& q = c.request;
    for (std::size_t i : {a, b})
        if (!value_of(c.results[i], q.metric, q.cost))
            throw InputError(
                fmt::format("{}: no {} to explain: {}", c.labels[i], info_of(q.metric).noun,
                            c.results[i].ok() ? "the device states no price" : c.results[i].estimate.reason));
    Explanation e;
    e.a = a;
    e.b = b;
    e.attribution = *attribute(c.results[a], c.results[b], q.metric, q.cost);
    e.overlapping =
        interval_of(c.results[a], q.metric, q.cost).overlaps(interval_of(c.results[b], q.metric, q.cost));
    find_flips({subjects,
                {c.results[a].hardware, c.results[b].hardware},
                {c.labels[a], c.labels[b]},
                options,
                q.batch_size,
                q.metric,
                q.cost},
               e);
    return e;
}

} // namespace

ArchitectureComparison compare_architectures(const Session& session, CompareArchitecturesRequest request,
                                             const Bindings& bindings, const RunOptions& options) {
    ArchitectureComparison c;
    const auto choices = choose_architectures(session, request.architectures);
    std::vector<std::size_t> explained;
    for (const std::string& name : request.explain)
        explained.push_back(find_architecture(choices, name, "--explain-difference"));
    if (!request.architecture.empty())
        c.detailed.push_back(find_architecture(choices, request.architecture, "--architecture"));
    SubjectAtBatches subjects(session, request.model, bindings);
    const Subject& subject = subjects.at(request.batch_size);
    c.model = subject.facts;
    c.request = std::move(request);
    for (const ArchitectureChoice& choice : choices) {
        c.labels.push_back(choice.label);
        c.results.push_back(subject.run(choice.hardware, options));
    }
    if (c.detailed.empty()) {
        c.detailed.resize(c.results.size());
        std::iota(c.detailed.begin(), c.detailed.end(), std::size_t{0});
    }
    c.baseline = choose_baseline(c, choices);
    add_regions(c);
    if (c.request.level == ComparisonLevel::subgraph)
        add_hybrids(c);
    if (c.request.decision.active())
        c.decision = decide(c.results, c.request.decision);
    if (!c.request.what_if.empty())
        c.what_if = run_what_if(c.request.what_if, choices, c.request.batch_size, options, subjects);
    if (c.request.sensitivity)
        c.sensitivity = run_sensitivity(c, choices, options, subjects);
    if (!c.request.batch_sweep.empty())
        c.batch_sweep = run_batch_sweep(c.request.batch_sweep, choices, options,
                                        latency_bound(c.request.decision), c.request.cost, subjects);
    if (explained.size() == 2)
        c.explanation = explain(c, explained[0], explained[1], options, subjects);
    return c;
}

int exit_code(const ArchitectureComparison& comparison) {
    const bool incomplete =
        std::any_of(comparison.results.begin(), comparison.results.end(),
                    [](const Result& r) { return r.estimate.status == Status::incomplete; });
    return incomplete ? 3 : 0;
}

} // namespace archsim
