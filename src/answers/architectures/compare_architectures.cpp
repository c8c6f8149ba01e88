#include "answers/architectures/compare_architectures.hpp"

#include "result/ties.hpp"
#include "session/usual_precision.hpp"

#include "answers/architectures/architectures.hpp"
#include "result/cost_terms.hpp"
#include "session/other_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace archsim {

namespace {

std::optional<std::size_t> choose_baseline(const ArchitectureComparison& c,
                                           const std::vector<ArchitectureChoice>& choices) {
    if (!c.request.baseline.empty())
        return find_architecture(choices, c.request.baseline, "--baseline");
    if (c.request.level == ComparisonLevel::detailed) // what most of its readers have
        for (std::size_t i = 0; i < c.results.size(); ++i)
            if (c.results[i].ok() && c.results[i].device->family == Family("gpu"))
                return i;
    const auto fastest = find_winner(c.results, metric::latency);
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

void add_hybrids(ArchitectureComparison& c) {
    for (std::size_t a = 0; a < c.results.size(); ++a)
        for (std::size_t b = a + 1; b < c.results.size(); ++b)
            if (auto split = best_split(c.results[a], c.results[b], regional(*c.request.metric)))
                c.hybrids.push_back({a, b, std::move(*split)});
    std::stable_sort(c.hybrids.begin(), c.hybrids.end(),
                     [](const HybridPair& x, const HybridPair& y) { return x.split.value < y.split.value; });
}

/// Throws InputError where one of the two has no value to explain.
Explanation explain(const Session& session, const ArchitectureComparison& c, std::size_t a, std::size_t b) {
    const CompareArchitecturesRequest& q = c.request;
    if (!q.metric->has_causes)
        throw UsageError(
            fmt::format("--metric {}: its differences have no causes of their own; explain energy or latency",
                        q.metric->key));
    for (std::size_t i : {a, b})
        if (!value_of(c.results[i], *q.metric, q.decision.cost))
            throw InputError(
                fmt::format("{}: no {} to explain: {}", c.labels[i], q.metric->noun,
                            c.results[i].ok() ? "the device states no price" : c.results[i].estimate.reason));
    Explanation e;
    e.a = a;
    e.b = b;
    e.attribution = *attribute(c.results[a], c.results[b], *q.metric, q.decision.cost);
    const auto& parts = e.attribution.contributions;
    if (std::any_of(parts.begin(), parts.end(),
                    [](const Contribution& p) { return p.factor == Factor::time; }))
        e.time = attribute(c.results[a], c.results[b], metric::latency, q.decision.cost);
    e.overlapping = tied(*q.metric, c.results[a], *measure_of(c.results[a], *q.metric, q.decision.cost),
                         c.results[b], *measure_of(c.results[b], *q.metric, q.decision.cost));
    find_flips({session,
                {c.results[a].hardware, c.results[b].hardware},
                {c.labels[a], c.labels[b]},
                q.workload,
                q.conditions,
                q.metric,
                q.decision.cost},
               e);
    return e;
}

} // namespace

std::string_view name_of(ComparisonLevel level) {
    static constexpr std::array<std::string_view, 3> kNames = {"summary", "detailed", "subgraph"};
    return kNames[static_cast<std::size_t>(level)];
}

std::optional<ComparisonLevel> parse_comparison_level(std::string_view text) {
    for (const auto level : {ComparisonLevel::summary, ComparisonLevel::detailed, ComparisonLevel::subgraph})
        if (name_of(level) == text)
            return level;
    return std::nullopt;
}

ArchitectureComparison compare_architectures(const Session& session, CompareArchitecturesRequest request) {
    ArchitectureComparison c;
    auto choices = choose_architectures(session, request.architectures);
    add_architecture(session, request.architecture, choices);
    for (const std::string& name : request.explain)
        add_architecture(session, name, choices);
    std::vector<std::size_t> explained;
    for (const std::string& name : request.explain)
        explained.push_back(find_architecture(choices, name, "--explain-difference"));
    if (!request.architecture.empty())
        c.detailed.push_back(find_architecture(choices, request.architecture, "--architecture"));
    request.workload.model = session.load(request.model);
    request.workload = usual_question(std::move(request.workload));
    request.conditions = settled(std::move(request.conditions), request.workload);
    c.model = session.facts(request.workload);
    c.request = std::move(request);
    const CompareArchitecturesRequest& q = c.request;
    for (const ArchitectureChoice& choice : choices) {
        c.labels.push_back(choice.label);
        c.results.push_back(session.estimate(q.workload, choice.hardware, q.conditions));
    }
    if (explained.size() == 2) { // the two are what is compared
        const std::array pair = {c.results[explained[0]], c.results[explained[1]]};
        c.request.decision.cost = on_one_basis(pair, c.request.decision.cost);
    } else {
        c.request.decision.cost = on_one_basis(c.results, c.request.decision.cost);
    }
    c.modes = modes_within(session, q.workload, c.results, q.decision);
    c.tried = tried_changes(session, q.workload, c.results, q.decision);
    if (c.detailed.empty()) {
        c.detailed.resize(c.results.size());
        std::iota(c.detailed.begin(), c.detailed.end(), std::size_t{0});
    }
    c.baseline = choose_baseline(c, choices);
    add_regions(c);
    if (q.level == ComparisonLevel::subgraph)
        add_hybrids(c);
    if (q.decision.active())
        c.decision = decide(c.results, q.decision);
    if (!q.what_if.empty())
        c.what_if = run_what_if(session, q, choices);
    if (q.sensitivity)
        c.sensitivity = run_sensitivity(session, c, choices);
    if (!q.batch_sweep.empty())
        c.batch_sweep = run_batch_sweep(session, q, choices);
    if (explained.size() == 2)
        c.explanation = explain(session, c, explained[0], explained[1]);
    return c;
}

} // namespace archsim
