#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"

#include "estimate/resource_times.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <set>

namespace archsim {

constexpr std::size_t kEnergyItems = 6; ///< of the account, behind an energy figure

struct Used {
    std::set<Resource> resources;
    std::set<Parameter> parameters;
};

static Used used_by(const Result& result) {
    Used used;
    const auto look = [&](const Mapping& mapping) {
        for (const Demand& demand : mapping.all()) {
            if (unit_of(demand.resource) != "s")
                used.resources.insert(demand.resource);
            if (demand.reason != Parameter::count_)
                used.parameters.insert(demand.reason);
        }
    };
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        look(s.mapping);
    look(result.estimate.network.fixed);
    return used;
}

static std::string rate_sources(const Machine& machine, Resource resource) {
    std::set<std::string> sources;
    for (const Fact* fact : machine.rates[static_cast<std::size_t>(resource)].facts)
        if (fact && fact->known())
            sources.insert(fact_source(*fact));
    return joined(
        sources, [&](const std::string& source) { return source; }, "; ");
}

static std::string latency_detail(const Result& result) {
    if (!result.ok() || !result.machine)
        return "";
    const Estimate& e = result.estimate;
    std::string text =
        fmt::format("Sum over {} subgraphs of (compute^p + on-chip^p + memory^p)^(1/p) + fixed cost, p = "
                    "{:g}, plus {} outside them.",
                    e.subgraphs.size(), result.machine->combine_exponent, format_time(e.network_s));
    for (const Resource resource : used_by(result).resources)
        if (const std::string sources = rate_sources(*result.machine, resource); !sources.empty())
            text += fmt::format("\n{}: {} {} per s ({})", name_of(resource),
                                format_count(result.machine->rate(resource)), unit_of(resource), sources);
    if (!e.interval_basis.empty())
        text += fmt::format("\n90 % interval from {}.", e.interval_basis);
    return text;
}

static std::string energy_detail(const Result& result) {
    if (!result.ok() || !result.machine || !result.machine->energy)
        return "";
    std::string text = "Energy is the sum of counted events, each at its price, and static power over the "
                       "time of the batch.";
    std::size_t listed = 0;
    for (const EnergyItem& item : energy_items(result)) {
        if (++listed > kEnergyItems)
            break;
        text += fmt::format("\n{}: {} ({})", item.title(), format_energy(item.joules), item.source);
    }
    return text;
}

static std::string memory_detail(const Result& result) {
    const MemoryEstimate& m = result.estimate.memory;
    return fmt::format(
        "The peak is weights {} + activation arena {} (live lower bound {}) + attention cache {}.",
        format_bytes(m.weight_bytes), format_bytes(m.activation_bytes), format_bytes(m.live_bytes),
        format_bytes(m.kv_cache_bytes));
}

std::string fit_text(int n, double error, const std::string& note) {
    return (n > 0 ? fmt::format(" (n = {}, error {})", n, format_percent(error)) : std::string()) +
           (note.empty() ? "" : "; " + note);
}

std::string fact_source(const Fact& fact) {
    if (!fact.known() || !fact.source)
        return "";
    return fmt::format("{}: {}{}", name_of(fact.source->kind), fact.source->cite,
                       fit_text(fact.fitted_n, fact.fitted_error, fact.note));
}

Table sources_table(const Result& result) {
    struct Input {
        std::string name;
        Cell value;
        std::string unit, source;
    };
    std::vector<Input> rows;
    const Machine& machine = *result.machine;
    const Used used = used_by(result);
    for (const Resource resource : used.resources)
        rows.push_back({std::string(name_of(resource)), amount_cell(machine.rate(resource)),
                        fmt::format("{} per s", unit_of(resource)), rate_sources(machine, resource)});
    for (const Parameter parameter : used.parameters)
        if (const Fact& fact = machine.parameters.fact(parameter); fact.known())
            rows.push_back({std::string(info_of(parameter).name),
                            {fmt::format("{:.4g}", fact.value), fact.value},
                            std::string(info_of(parameter).unit),
                            fact_source(fact)});
    return table_of<Input>("Inputs of the estimate",
                           {{{"Input", "", "input"}, &Input::name},
                            {{"Value", "", "value", Align::right}, &Input::value},
                            {{"Unit", "", "unit"}, [](const Input& i) { return text_cell(i.unit); }},
                            {{"Source", "", "source"}, [](const Input& i) { return text_cell(i.source); }}},
                           rows);
}

std::string detail_of(const Result& result, const Metric& metric) {
    return metric == metric::latency  ? latency_detail(result)
           : metric == metric::energy ? energy_detail(result)
           : metric == metric::memory ? memory_detail(result)
                                      : std::string();
}

} // namespace archsim
