#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "hardware/energy_table.hpp"
#include "session/varied_part.hpp"

#include <set>

namespace archsim {

struct AskedChange {
    std::optional<std::size_t> architecture;
    std::string key, value, text;
};

static AskedChange parse(const std::string& text, const std::vector<ArchitectureChoice>& choices) {
    const auto sides = split_assignment(text);
    if (!sides)
        throw UsageError(fmt::format(
            "--what-if: \"{}\" is not of the form NAME=VALUE, like bandwidth=2x, tdp=15W or batch=8", text));
    AskedChange change{std::nullopt, std::string(sides->first), std::string(sides->second), text};
    if (const auto colon = change.key.rfind(':'); colon != std::string::npos) {
        change.architecture = find_architecture(choices, change.key.substr(0, colon), "--what-if");
        change.key = change.key.substr(colon + 1);
    }
    return change;
}

/// A power limit in watts replaces the device's own, which need not state one.
static void apply_to(const AskedChange& change, const Session& session, const ArchitectureChoice& choice,
                     const Conditions& unchanged, Conditions& conditions) {
    const VariedPart part = varied_part(change.key, "--what-if: ");
    const std::string where = "--what-if " + change.key;
    if (parse_real(change.value)) // of a limit of 15 nobody knows whether watts or times are meant
        throw UsageError(
            fmt::format("{}: \"{}\": give a factor like 2x or 150%, or a unit", where, change.value));
    const PartAmount asked = part_amount(part, change.value, where);
    if (asked.absolute && part.name() == info_of(Lever::power_limit).name)
        conditions.changes.power_limit_w = asked.value;
    else
        part.of(conditions) *=
            asked.absolute ? asked.value / own_amount(part, *session.machine(choice.hardware, unchanged))
                           : asked.value;
}

/// A limit below what flows without work cannot be met at any clock.
static void refuse_impossible_limit(Result& result) {
    if (!result.ok() || result.machine->power_limit_w <= 0 ||
        result.machine->power_limit_w > result.machine->static_power_w)
        return;
    result.estimate.status = Status::unsupported;
    result.estimate.reason = fmt::format("draws {:g} W without work, the limit is {:g} W",
                                         result.machine->static_power_w, result.machine->power_limit_w);
}

constexpr double kVariation = 0.2;

static bool assumed(const Fact& fact) {
    return fact.known() && fact.source &&
           (fact.source->kind == SourceKind::assumed || fact.source->kind == SourceKind::tuned);
}

/// An input with the change that scales it.
struct Input {
    std::string name;
    std::optional<Lever> lever;
    std::optional<Parameter> parameter;
    MachineChanges scaled(MachineChanges changes, double factor) const {
        if (lever)
            changes[*lever] *= factor;
        else
            changes.parameters.emplace_back(*parameter, factor);
        return changes;
    }
};

/// Parameters that make_machine turned into rates already: the rate is what can be changed.
static std::optional<Lever> lever_of_rate(Parameter parameter) {
    switch (info_of(parameter).role) {
    case ParameterRole::memory_rate:
        return Lever::bandwidth;
    case ParameterRole::cache_rate:
        return Lever::on_chip;
    default:
        return std::nullopt;
    }
}

static std::vector<Input> assumed_inputs(const Machine& machine) {
    std::vector<Input> inputs;
    std::set<Lever> covered;
    const auto add_lever = [&](Lever lever, std::string name) {
        if (covered.insert(lever).second)
            inputs.push_back({std::move(name), lever, {}});
    };
    for (std::size_t i = 0; i < kParameterCount; ++i) {
        const auto parameter = static_cast<Parameter>(i);
        if (!assumed(machine.parameters.fact(parameter)))
            continue;
        if (const auto lever = lever_of_rate(parameter))
            add_lever(*lever, std::string(info_of(*lever).title));
        else
            inputs.push_back({std::string(info_of(parameter).name), {}, parameter});
    }
    const auto rate = [&](Lever lever, std::initializer_list<Resource> resources) {
        for (Resource r : resources)
            for (const Fact* fact : machine.rates[static_cast<std::size_t>(r)].facts)
                if (fact && assumed(*fact))
                    add_lever(lever, std::string(info_of(lever).title));
    };
    rate(Lever::peak, {Resource::matrix_cycles, Resource::vector_cycles});
    rate(Lever::bandwidth, {Resource::dram_bytes});
    rate(Lever::on_chip, {Resource::l1_bytes, Resource::l2_bytes, Resource::llc_bytes});
    if (machine.energy) {
        const EnergyTable& table = *machine.energy;
        const auto price = [&](Lever lever, const Fact& fact) {
            if (assumed(fact))
                add_lever(lever, std::string(info_of(lever).title));
        };
        for (const Fact& fact : table.mac)
            price(Lever::operation_energy, fact);
        for (std::size_t e = 0; e < kEventCount; ++e)
            if (const auto lever = lever_of(static_cast<Event>(e)))
                price(*lever, table.event[e]);
        price(Lever::memory_energy, table.dram_device);
        price(Lever::static_power, table.static_power);
    }
    return inputs;
}

/// Best value by itself: what an interval leaves open is open before and after.
static std::size_t best_of(const std::vector<std::optional<double>>& values, const Metric& metric) {
    std::size_t best = values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] && (best == values.size() || better(metric, *values[i], *values[best])))
            best = i;
    return best;
}

WhatIf run_what_if(const Session& session, const CompareArchitecturesRequest& request,
                   const std::vector<ArchitectureChoice>& choices) {
    WhatIf what_if;
    what_if.asked = request.what_if;
    Question question{request.workload, request.conditions};
    std::vector<Conditions> changed(choices.size(), request.conditions);
    for (const std::string& text : what_if.asked) {
        const AskedChange change = parse(text, choices);
        // A field that tools have no flag for is a change of the device by another name.
        const QuestionField* const field = find_question_field(change.key);
        if (field != nullptr && !field->flag.empty()) {
            if (change.architecture)
                throw UsageError(fmt::format(
                    "--what-if: \"{}\": {} belongs to the workload of all architectures", text, change.key));
            field->put(change.value, "--what-if " + change.key, question);
            continue;
        }
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (!change.architecture || *change.architecture == i)
                apply_to(change, session, choices[i], request.conditions, changed[i]);
    }
    for (std::size_t i = 0; i < choices.size(); ++i) {
        question.conditions.changes = changed[i].changes;
        question.conditions.structure = changed[i].structure;
        what_if.results.push_back(
            session.estimate(question.workload, choices[i].hardware, question.conditions));
        refuse_impossible_limit(what_if.results.back());
    }
    return what_if;
}

Sensitivity run_sensitivity(const Session& session, const ArchitectureComparison& c,
                            const std::vector<ArchitectureChoice>& choices) {
    Sensitivity out;
    out.variation = kVariation;
    const CompareArchitecturesRequest& q = c.request;
    std::vector<std::optional<double>> values =
        mapped(c.results, [&](const Result& result) { return value_of(result, *q.metric, q.decision.cost); });
    const std::size_t winner = best_of(values, *q.metric);
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        if (!values[i])
            continue;
        for (const Input& input : assumed_inputs(*c.results[i].machine)) {
            SensitivityRow row;
            row.architecture = i;
            row.input = input.name;
            for (const double sign : {-1.0, 1.0}) {
                Conditions changed = q.conditions;
                changed.changes = input.scaled(q.conditions.changes, 1 + sign * kVariation);
                changed.keep_subgraphs = false;
                std::vector<std::optional<double>> now = values;
                now[i] = value_of(session.estimate(q.workload, choices[i].hardware, changed), *q.metric,
                                  q.decision.cost);
                if (now[i])
                    (sign < 0 ? row.effect_down : row.effect_up) = *now[i] / *values[i] - 1;
                if (const std::size_t best = best_of(now, *q.metric); best != winner)
                    row.other_winner = best;
            }
            if (row.effect_down != 0 || row.effect_up != 0)
                out.rows.push_back(row);
            ++out.varied;
        }
    }
    const auto size = [](const SensitivityRow& r) {
        return std::max(std::abs(r.effect_down), std::abs(r.effect_up));
    };
    std::ranges::stable_sort(out.rows, [&](const auto& x, const auto& y) {
        return std::pair(x.other_winner.has_value(), size(x)) >
               std::pair(y.other_winner.has_value(), size(y));
    });
    return out;
}

} // namespace archsim
