#include "answers/architectures/architectures.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <variant>
#include <vector>

namespace archsim {

namespace {

/// Events that answer one question about an architecture.
struct EventClass {
    const char *heading, *key;
    std::vector<Event> events;
};

const std::array<EventClass, 6>& event_classes() {
    static const std::array<EventClass, 6> classes = {
        EventClass{"Arithmetic", "arithmetic_share", {Event::mac, Event::vector_op, Event::special_op}},
        EventClass{"Instructions", "instruction_share", {Event::instruction, Event::scheduling}},
        EventClass{"Coherence", "coherence_share", {Event::coherence}},
        EventClass{"Near memory", "near_memory_share", {Event::register_byte, Event::l1_byte}},
        EventClass{"On-chip",
                   "on_chip_share",
                   {Event::l2_byte, Event::llc_byte, Event::systolic_hop, Event::weight_load_byte,
                    Event::accumulator_byte, Event::domain_token, Event::streamer_byte, Event::routing_byte,
                    Event::configuration_byte}},
        EventClass{"DRAM", "dram_share", {Event::dram_byte}},
    };
    return classes;
}

double joules_of(const EnergyBreakdown& energy, const EventClass& kind) {
    double joules = 0;
    for (const Event event : kind.events)
        joules += energy[event];
    return joules;
}

/// Units and their operations per clock in the format that runs, every kind of them: "179 tile x 512 + 26
/// tile x 8.19 k".
std::string parallelism(const Result& r) {
    std::string text;
    for (const Engine* engine : running_engines(r))
        text += fmt::format("{}{:.0f} {} x {}", text.empty() ? "" : " + ", engine->count, engine->unit,
                            format_count(engine->rate(r.estimate.executed.compute).value));
    return text.empty() ? "-" : text;
}

/// Threads that the device holds at once; nothing where its file does not say.
std::optional<double> threads(const Result& r) {
    const FamilyFacts* facts = r.device->facts.get();
    if (facts == nullptr)
        return std::nullopt;
    for (const FactRow& row : r.device->family.row().facts)
        if (const auto* member = std::get_if<Fact FamilyFacts::*>(&row.member);
            row.name == "resident_threads" && member != nullptr && (facts->**member).known())
            return r.machine->units * (facts->**member).value;
    return std::nullopt;
}

} // namespace

Table architecture_differences(std::span<const std::string> labels, std::span<const Result> results) {
    Table table;
    table.title =
        results.empty() ? "Differences" : fmt::format("Differences, on {}", results.front().model->name);
    table.columns = {{"Architecture", "", "architecture"},
                     {"Device", "", "hardware", Align::left, 1},
                     {"Parallelism", "ops/clock", "parallelism", Align::right},
                     {"Threads", "", "threads", Align::right, 1},
                     {"Energy", "pJ/op", "picojoule_per_operation", Align::right},
                     {"Static", "%", "static_share", Align::right}};
    constexpr int kDetail = 1; // leaves a screen of 100 columns
    for (const EventClass& kind : event_classes())
        table.columns.push_back({kind.heading, "%", kind.key, Align::right,
                                 kind.events.front() == Event::register_byte ? kDetail : 0});
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& r = results[i];
        std::vector<Cell> row{{labels[i]}, {hardware_label(r)}};
        if (!r.ok()) {
            row.resize(table.columns.size(), Cell{"-"});
            table.rows.push_back(std::move(row));
            continue;
        }
        const EnergyBreakdown& energy = r.estimate.energy;
        const double total = energy.total(), counted = total - energy.static_joules;
        const double operations = r.model->operations;
        row.push_back({parallelism(r)});
        const std::optional<double> held = threads(r);
        row.push_back(held ? Cell{format_count(*held), *held} : Cell{"-"});
        const double each = operations > 0 ? total / operations : 0;
        row.push_back(cell_in(1e-12, each));
        const auto share = [&](double joules, double whole) {
            const double value = whole > 0 ? joules / whole : 0;
            return percent_cell(value);
        };
        row.push_back(share(energy.static_joules, total));
        for (const EventClass& kind : event_classes())
            row.push_back(share(joules_of(energy, kind), counted));
        table.rows.push_back(std::move(row));
    }
    table.notes.push_back(
        "Static: share of all energy. The others: shares of the energy without it, by the events of "
        "docs/energy.md; what is left are transfers and a host at work.");
    return table;
}

} // namespace archsim
