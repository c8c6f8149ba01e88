#include "answers/architectures/architectures.hpp"

#include "report/blocks/columns.hpp"
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
    return text;
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
    struct Row {
        const std::string& label;
        const Result& result;
        const EnergyBreakdown& energy() const { return result.estimate.energy; }
        double counted() const { return energy().total() - energy().static_joules; }
    };
    const auto share = [](double joules, double whole) {
        return percent_cell(whole > 0 ? joules / whole : 0);
    };
    std::vector<ColumnOf<Row>> columns = {
        {{"Architecture", "", "architecture"}, [](const Row& r) { return r.label; }},
        {{"Device", "", "hardware", Align::left, 1}, [](const Row& r) { return hardware_label(r.result); }}};
    std::vector<ColumnOf<Row>> estimated = {{most_best("Parallelism", "ops/clock", "parallelism"),
                                             [](const Row& r) { return parallelism(r.result); }},
                                            {most_best("Threads", "", "threads", 1),
                                             [](const Row& r) {
                                                 const std::optional<double> held = threads(r.result);
                                                 return held ? amount_cell(*held) : Cell{};
                                             }},
                                            {least_best("Energy", "pJ/op", "energy_per_operation_j"), 1e-12,
                                             [](const Row& r) {
                                                 const double operations = r.result.model->operations;
                                                 return operations > 0 ? r.energy().total() / operations : 0;
                                             }},
                                            {least_best("Static", "%", "static_share"), [=](const Row& r) {
                                                 return share(r.energy().static_joules, r.energy().total());
                                             }}};
    constexpr int kDetail = 1; // leaves a screen of 100 columns
    for (const EventClass& kind : event_classes())
        estimated.emplace_back(
            least_best(kind.heading, "%", kind.key,
                       kind.events.front() == Event::register_byte ? kDetail : 0),
            [&kind, share](const Row& r) { return share(joules_of(r.energy(), kind), r.counted()); });
    append_columns(columns, where([](const Row& r) { return r.result.ok(); }, std::move(estimated)));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < results.size(); ++i)
        rows.push_back({labels[i], results[i]});
    Table table = table_of(results.empty() ? std::string("Differences")
                                           : fmt::format("Differences, on {}", results.front().model->name),
                           columns, rows);
    table.notes.push_back(
        "Static: share of all energy. The others: shares of the energy without it, by the events of "
        "docs/energy.md; what is left are transfers and a host at work.");
    return table;
}

} // namespace archsim
