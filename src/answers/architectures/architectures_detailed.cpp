// Energy Breakdown:
//   Total Energy:    48.9 mJ
//     Compute:       18.5 mJ (37.9 %)
//     Memory:        20.3 mJ (41.5 %)
//     Static:        7.3 mJ (14.9 %)
//     Control:       2.8 mJ (5.7 %)
//       DRAM device: 9.4 mJ (19.2 %)
//       ...
// Performance, Memory, Bottleneck Analysis: see result_text.

#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "result/bound_shares.hpp"

#include <variant>

namespace archsim {

/// Events that make less of the energy than this are added up in one line.
constexpr double kSmallShare = 0.01;
constexpr std::size_t kLongestShown = 10; ///< groups of equal subgraphs

static Facts energy_breakdown(const Result& r) {
    const double total = r.estimate.energy.total(), batch = r.estimate.batch;
    const auto line = [&](const std::string& title, double joules, int level = 2) {
        return NamedValue{
            title, fmt::format("{} ({})", format_energy(joules / batch), format_percent(joules / total)),
            level};
    };
    Facts facts;
    facts.add("Total Energy", format_energy(total / batch) + " per inference");
    const EnergyRollup rollup = roll_up(r.estimate.energy);
    for (const auto& [title, joules] :
         {std::pair{"Compute", rollup.compute_j}, std::pair{"Memory", rollup.memory_j},
          std::pair{"Static", rollup.static_j}, std::pair{"Control", rollup.control_j}})
        facts.items.push_back(line(title, joules, 1));
    double rest = 0;
    facts.add("By event", "", 1); // the same joules once more
    for (const EnergyItem& item : energy_items(r))
        if (item.joules < kSmallShare * total)
            rest += item.joules;
        else
            facts.items.push_back(line(item.name, item.joules));
    if (rest > 0)
        facts.items.push_back(line("everything else", rest));
    return facts;
}

/// Counts of subgraphs, and the shares of the time that verdicts speak of.
static Facts bottlenecks(const Result& result) {
    const Estimate& e = result.estimate;
    const auto time = bound_shares(result);
    const int total = e.compute_bound + e.memory_bound + e.overhead_bound;
    const auto text = [&](int count, Bound bound) {
        return fmt::format("{} subgraphs ({:.0f} %){}", count, 100.0 * count / std::max(1, total),
                           time ? fmt::format(", {:.0f} % of the time", 100 * time->of(bound))
                                : std::string());
    };
    return {{{"Compute-bound", text(e.compute_bound, Bound::compute)},
             {"Memory-bound", text(e.memory_bound, Bound::memory)},
             {"Overhead-bound", text(e.overhead_bound, Bound::overhead)},
             {"Total subgraphs", fmt::format("{}", total)}}};
}

/// "1.98x slower", "2.26x the energy per inference", "13 % less energy per inference".
static std::string ratio_words(const Metric& metric, double ratio) {
    if (ratio == 1)
        return "the same " + metric.noun;
    if (metric.quantity == QuantityKind::time)
        return ratio > 1 ? format_ratio(ratio) + " slower" : format_ratio(1 / ratio) + " faster";
    return ratio > 1 ? fmt::format("{} the {}", format_ratio(ratio), metric.noun)
                     : fmt::format("{} less {}", format_percent(1 - ratio), metric.noun);
}

/// "vs GPU:  1.98x slower, 2.26x the energy per inference".
static void add_ratios(const ArchitectureComparison& c, std::size_t i, Facts& facts) {
    if (!c.baseline || *c.baseline == i)
        return;
    const std::string text = joined(std::array{&metric::latency, &metric::energy}, [&](const Metric* metric) {
        const auto own = value_of(c.results[i], *metric), base = value_of(c.results[*c.baseline], *metric);
        return own && base && *base > 0 ? ratio_words(*metric, *own / *base) : std::string();
    });
    if (!text.empty())
        facts.add(fmt::format("vs {}", c.labels[*c.baseline]), text);
}

static Facts performance(const ArchitectureComparison& c, std::size_t i) {
    const Result& r = c.results[i];
    const Estimate& e = r.estimate;
    Facts facts;
    add_ratios(c, i, facts);
    facts.add("Latency", with_interval(metric::latency, r));
    facts.add("Throughput", format_number(e.throughput_per_s) + " inferences/s");
    facts.add("Power", format_power(value_or_nan(r, metric::power, c.request.decision.cost)));
    facts.add("Utilization", format_percent(e.utilization));
    for (NamedValue& item : utilization_facts(r))
        if (item.name != "Average")
            facts.items.push_back(std::move(item));
    append(facts.items, time_shares(r));
    return facts;
}

static Facts memory(const Estimate& e) {
    Facts facts{{{"Peak Memory", format_bytes(e.memory.peak_bytes)},
                 {"Activation Memory", format_bytes(e.memory.activation_bytes)},
                 {"Weight Memory", format_bytes(e.memory.weight_bytes)}}};
    if (e.memory.workspace_bytes > 0)
        facts.add("Workspace", format_bytes(e.memory.workspace_bytes));
    if (e.memory.kv_cache_bytes > 0)
        facts.add("KV Cache", format_bytes(e.memory.kv_cache_bytes));
    return facts;
}

/// Events that answer one question about an architecture.
struct EventClass {
    const char *heading, *key;
    std::vector<Event> events;
};

static const std::array<EventClass, 6>& event_classes() {
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

static double joules_of(const EnergyBreakdown& energy, const EventClass& kind) {
    return sum_of(kind.events, [&](Event event) { return energy[event]; });
}

/// Units and their operations per clock in the format that runs, every kind of them: "179 tile x 512 + 26
/// tile x 8.19 k".
static std::string parallelism(const Result& r) {
    return joined(
        running_engines(r),
        [&](const Engine* engine) {
            return fmt::format("{:.0f} {} x {}", engine->count, engine->unit,
                               format_count(engine->rate(r.estimate.executed.compute).value));
        },
        " + ");
}

/// Threads that the device holds at once; nothing where its file does not say.
static std::optional<double> threads(const Result& r) {
    const FamilyFacts* facts = r.device->facts.get();
    if (facts == nullptr)
        return std::nullopt;
    for (const FactRow& row : r.device->family.row().facts)
        if (const auto* member = std::get_if<Fact FamilyFacts::*>(&row.member);
            row.name == "resident_threads" && member != nullptr && (facts->**member).known())
            return r.machine->units * (facts->**member).value;
    return std::nullopt;
}

void add_detailed(const ArchitectureComparison& c, Format format, Report& report) {
    for (std::size_t i : c.detailed) {
        const Result& r = c.results[i];
        report.blocks.push_back(Heading{2, fmt::format("Detailed Analysis: {}", full_label(c, i))});
        if (r.device)
            report.blocks.push_back(device_facts(r));
        if (!r.ok()) {
            report.blocks.push_back(Paragraph{fmt::format("No estimate: {}.", r.estimate.reason), Tone::bad});
            continue;
        }
        add_blocks(report, Heading{3, "Energy Breakdown:"}, energy_breakdown(r), Heading{3, "Performance:"},
                   performance(c, i), Heading{3, "Memory:"}, memory(r.estimate),
                   Heading{3, "Bottleneck Analysis:"}, bottlenecks(r));
        for (const ResultLeaf& leaf : leaves_of(r)) {
            Table table = format == Format::html ? subgraph_table(*leaf.result)
                                                 : grouped_subgraph_table(*leaf.result, kLongestShown);
            if (!r.parts.empty())
                table.title = fmt::format("Subgraphs of {}", leaf.result->model->name);
            report.blocks.push_back(std::move(table));
        }
    }
}

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
    append(columns, where([](const Row& r) { return r.result.ok(); }, std::move(estimated)));
    const auto rows = mapped(indices(results.size()), [&](std::size_t i) {
        return Row{labels[i], results[i]};
    });
    Table table = table_of(results.empty() ? std::string("Differences")
                                           : fmt::format("Differences, on {}", results.front().model->name),
                           columns, rows);
    table.notes.push_back("Static: share of all energy. The others: shares of the energy without it, by the "
                          "events of docs/energy.md; what is left are transfers and a host at work.");
    return table;
}

} // namespace archsim
