#include "archsim/run/compare_architectures.hpp"

#include "archsim/core/finding.hpp"
#include "run/architecture_choice.hpp"
#include "run/flips.hpp"
#include "run/subject.hpp"

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
