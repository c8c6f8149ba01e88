#include "answers/architectures/runs.hpp"
#include "hardware/energy_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace archsim {

namespace {

constexpr double kVariation = 0.2;

bool assumed(const Fact& fact) {
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
std::optional<Lever> lever_of_rate(Parameter parameter) {
    switch (info_of(parameter).role) {
    case ParameterRole::memory_rate:
        return Lever::bandwidth;
    case ParameterRole::cache_rate:
        return Lever::on_chip;
    default:
        return std::nullopt;
    }
}

std::vector<Input> assumed_inputs(const Machine& machine) {
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
std::size_t best_of(const std::vector<std::optional<double>>& values, const Metric& metric) {
    std::size_t best = values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] && (best == values.size() || better(metric, *values[i], *values[best])))
            best = i;
    return best;
}

} // namespace

Sensitivity run_sensitivity(const Session& session, const ArchitectureComparison& c,
                            const std::vector<ArchitectureChoice>& choices) {
    Sensitivity out;
    out.variation = kVariation;
    const CompareArchitecturesRequest& q = c.request;
    std::vector<std::optional<double>> values;
    for (const Result& result : c.results)
        values.push_back(value_of(result, *q.metric, q.decision.cost));
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
    std::stable_sort(out.rows.begin(), out.rows.end(), [&](const auto& x, const auto& y) {
        return std::pair(x.other_winner.has_value(), size(x)) >
               std::pair(y.other_winner.has_value(), size(y));
    });
    return out;
}

} // namespace archsim
