#include "answers/architectures/architectures.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "result/cost_terms.hpp"
#include "result/ties.hpp"
#include "session/other_conditions.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace archsim {

constexpr const char* kDefaults = "architectures"; ///< ids of deployments in the database
constexpr const char* kRepresentatives = "families";

static Family family_of(const Session& session, const std::string& hardware) {
    return session.hardware().device(hardware).device->family;
}

static std::string representative(const Session& session, Family family) {
    for (const std::string& hardware : session.hardware().deployment(kRepresentatives).hardware)
        if (family_of(session, hardware) == family)
            return hardware;
    throw InputError(fmt::format("deployments.json: \"{}\" lists no {}; name a device", kRepresentatives,
                                 title_of(family)));
}

static void add(const Session& session, const std::string& name, std::vector<ArchitectureChoice>& out) {
    if (const auto family = parse_family(name)) {
        out.push_back({std::string(title_of(*family)), representative(session, *family)});
        return;
    }
    if (const auto at = name.find('='); at != std::string::npos) {
        const auto family = parse_family(name.substr(0, at));
        const std::string hardware = name.substr(at + 1);
        if (!family)
            throw UsageError(fmt::format("--architectures: \"{}\" is not a family ({})", name.substr(0, at),
                                         fmt::join(family_names(), ", ")));
        if (hardware.empty())
            throw UsageError(fmt::format("--architectures: \"{}\" names no device", name));
        if (family_of(session, hardware) != *family)
            throw UsageError(fmt::format("--architectures: {} is a {}, not a {}", hardware,
                                         title_of(family_of(session, hardware)), title_of(*family)));
        out.push_back({std::string(title_of(*family)), hardware});
        return;
    }
    const DeviceChoice choice = session.hardware().device(name); // unknown names stop here, before any work
    out.push_back({choice.power_mode.empty() ? choice.device->id
                                             : fmt::format("{}@{}", choice.device->id, choice.power_mode),
                   name});
}

std::vector<ArchitectureChoice> choose_architectures(const Session& session,
                                                     const std::vector<std::string>& asked) {
    std::vector<ArchitectureChoice> choices;
    const bool all = asked.size() == 1 && same_ignoring_case(asked.front(), "all");
    if (asked.empty() || all)
        for (const std::string& hardware :
             session.hardware().deployment(all ? kRepresentatives : kDefaults).hardware)
            choices.push_back({std::string(title_of(family_of(session, hardware))), hardware});
    else
        for (const std::string& name : asked)
            add(session, name, choices);
    // Two devices of one family go by their own names.
    std::vector<ArchitectureChoice> named = choices;
    for (std::size_t i = 0; i < choices.size(); ++i)
        for (std::size_t k = 0; k < choices.size(); ++k)
            if (i != k && choices[i].label == choices[k].label) {
                if (same_ignoring_case(choices[i].hardware, choices[k].hardware))
                    throw UsageError(fmt::format("--architectures: {} twice", choices[i].hardware));
                named[i].label = choices[i].hardware;
            }
    return named;
}

void add_architecture(const Session& session, const std::string& name,
                      std::vector<ArchitectureChoice>& choices) {
    const bool known = std::ranges::any_of(choices, [&](const ArchitectureChoice& choice) {
        return same_ignoring_case(choice.label, name) || same_ignoring_case(choice.hardware, name);
    });
    if (!known && parse_family(name))
        add(session, name, choices);
}

std::size_t find_architecture(const std::vector<ArchitectureChoice>& choices, const std::string& name,
                              const std::string& flag) {
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (same_ignoring_case(choices[i].label, name) || same_ignoring_case(choices[i].hardware, name))
            return i;
    std::vector<std::string> labels = mapped(choices, &ArchitectureChoice::label);
    throw UsageError(fmt::format("{}: \"{}\" is not among the architectures compared: {}", flag, name,
                                 fmt::join(labels, ", ")));
}

static std::optional<std::size_t> choose_baseline(const ArchitectureComparison& c,
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

static void add_regions(ArchitectureComparison& c) {
    c.compared = kept(indices(c.results.size()), [&](std::size_t i) { return c.results[i].ok(); });
    c.regions = common_regions(
        mapped(c.compared, [&](std::size_t i) { return static_cast<const Result*>(&c.results[i]); }));
}

static void add_hybrids(ArchitectureComparison& c) {
    for (std::size_t a = 0; a < c.results.size(); ++a)
        for (std::size_t b = a + 1; b < c.results.size(); ++b)
            if (auto split = best_split(c.results[a], c.results[b], regional(*c.request.metric)))
                c.hybrids.push_back({a, b, std::move(*split)});
    std::ranges::stable_sort(
        c.hybrids, [](const HybridPair& x, const HybridPair& y) { return x.split.value < y.split.value; });
}

/// Throws InputError where one of the two has no value to explain.
static Explanation explain(const Session& session, const ArchitectureComparison& c, std::size_t a,
                           std::size_t b) {
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
    if (contains(parts, Factor::time, &Contribution::factor))
        e.time = attribute(c.results[a], c.results[b], metric::latency, q.decision.cost);
    e.overlapping = tied(*q.metric, c.results[a], *measure_of(c.results[a], *q.metric, q.decision.cost),
                         c.results[b], *measure_of(c.results[b], *q.metric, q.decision.cost));
    find_flips(session, c, e);
    return e;
}

ArchitectureComparison compare_architectures(const Session& session, CompareArchitecturesRequest request) {
    if (request.conditions.duty.stated())
        throw UsageError("how often a device works is no question to architectures: ask compare_models");
    ArchitectureComparison c;
    auto choices = choose_architectures(session, request.architectures);
    add_architecture(session, request.architecture, choices);
    for (const std::string& name : request.explain)
        add_architecture(session, name, choices);
    const std::vector<std::size_t> explained = mapped(request.explain, [&](const std::string& name) {
        return find_architecture(choices, name, "--explain-difference");
    });
    if (!request.architecture.empty())
        c.detailed.push_back(find_architecture(choices, request.architecture, "--architecture"));
    request.workload.model = session.load(request.model);
    request.workload = usual_question(std::move(request.workload));
    request.conditions = settled(std::move(request.conditions), request.workload);
    c.model = session.facts(request.workload);
    const auto devices = mapped(choices, [&](const ArchitectureChoice& choice) {
        return session.hardware().device(choice.hardware).device;
    });
    request.decision.cost = with_known_prices(request.decision.cost, devices, session.hardware());
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
    if (c.detailed.empty())
        c.detailed = indices(c.results.size());
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
