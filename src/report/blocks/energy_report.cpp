#include "report/blocks/energy_report.hpp"

#include "estimate/wall_power.hpp"
#include "hardware/energy_table.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/energy_rollup.hpp"
#include "report/blocks/explanations_json.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace archsim {

namespace {

std::string price_text(const EnergyItem& item) {
    if (item.event == "static" || item.event == "host_busy_second")
        return format_power(item.each_j);
    return fmt::format("{} pJ", format_number(item.each_j * 1e12));
}

std::string count_text(const EnergyItem& item) {
    return item.event == "static" || item.event == "host_busy_second" ? format_time(item.count)
                                                                      : format_count(item.count);
}

Table account(const Result& result) {
    Table table;
    const double batch = result.estimate.batch;
    table.title =
        fmt::format("Energy of {} on {}: {} per inference{}", result.model->name, hardware_label(result),
                    format_value(metric::energy, value_or_nan(result, metric::energy)),
                    batch > 1 ? fmt::format(", below that of the batch of {:g}", batch) : std::string());
    table.columns = {{"", "", "model"},
                     {"", "", "hardware"},
                     {"Event", "", "event"},
                     {"Count", "", "count", Align::right},
                     {"Each", "", "each_j", Align::right},
                     {"Energy", "mJ", "energy_j", Align::right},
                     {"Share", "%", "share", Align::right},
                     {"Source", "", "source_kind"},
                     {"", "", "source"}};
    const double total = result.estimate.energy.total();
    std::vector<std::string> cited;
    for (const EnergyItem& item : energy_items(result)) {
        if (std::find(cited.begin(), cited.end(), item.source) == cited.end()) {
            cited.push_back(item.source);
            table.notes.push_back(fmt::format("{}: {}", item.title, item.source));
        }
        table.rows.push_back({{result.model->name},
                              {hardware_label(result)},
                              {item.title},
                              {count_text(item), item.count},
                              {price_text(item), item.each_j},
                              cell_in(1e-3, item.joules),
                              percent_cell(item.joules / total),
                              {item.source.substr(0, item.source.find(':'))},
                              {item.source}});
    }
    table.rows.push_back({{result.model->name},
                          {hardware_label(result)},
                          {"sum", {}, Tone::strong},
                          {""},
                          {""},
                          {format_number(total * 1e3), total, Tone::strong},
                          {"100.0", 1.0},
                          {""},
                          {batch > 1 ? fmt::format("batch of {:g}", batch) : ""}});
    return table;
}

/// "Chip with its memory" or what else the figures were measured at.
std::string boundary_of(const Result& result) {
    const EnergyTable& table = *result.machine->energy;
    if (table.host_share.known())
        return "the card: chip and its memory, without the server around it";
    return result.device->family.row().is_host ? "the package and its memory"
                                               : "the module: chip, its memory, and what shares its supply";
}

} // namespace

Facts energy_conditions(const Result& result) {
    const Estimate& e = result.estimate;
    const Machine& m = *result.machine;
    const EnergyTable& table = *m.energy;
    const double clock = m.rate(Resource::overhead_cycles) * e.clock_ratio;
    Facts facts;
    facts.items.push_back({"Boundary", boundary_of(result)});
    facts.items.push_back(
        {"Power",
         fmt::format("{} on average, {} in the subgraph that draws most{}", format_power(e.power_w),
                     format_power(e.peak_power_w),
                     m.power_limit_w > 0
                         ? fmt::format("; limit {}{}", format_power(m.power_limit_w * result.devices()),
                                       e.power_limited ? ", which lowers the clock" : "")
                         : std::string())});
    if (const double factor = table.voltage_factor(clock); table.nominal_clock.known())
        facts.items.push_back({"Clock", fmt::format("{} MHz; dynamic energy x{:.2f} of that at {} MHz",
                                                    format_number(clock / 1e6), factor,
                                                    format_number(table.nominal_clock.value / 1e6))});
    const WallPower wall = wall_power(m, e.power_w / result.devices(), result.devices());
    facts.items.push_back(
        {"At the wall", fmt::format("{}: {} device, {}{} host, {} lost in the supply",
                                    format_power(wall.total()), format_power(wall.accelerators_w),
                                    wall.board_w > 0 ? format_power(wall.board_w) + " board, " : "",
                                    format_power(wall.host_w), format_power(wall.supply_loss_w))});
    facts.items.push_back({"90 % interval", with_interval(metric::energy, result)});
    return facts;
}

namespace {

std::vector<Cell> part_cells(const EnergyParts& parts, double total) {
    std::vector<Cell> cells;
    for (const double joules : parts)
        cells.push_back({fmt::format("{:.0f}", total > 0 ? 100 * joules / total : 0), joules});
    return cells;
}

/// What no subgraph holds: events once per inference, and static power outside of subgraphs.
EnergyBreakdown outside_of_subgraphs(const Estimate& e) {
    EnergyBreakdown rest = e.energy;
    for (const SubgraphEstimate& s : e.subgraphs) {
        for (std::size_t i = 0; i < kEventCount; ++i)
            rest.joules[i] -= s.energy.joules[i];
        rest.static_joules -= s.energy.static_joules;
    }
    return rest;
}

Table by_subgraph(const Result& result) {
    Table table;
    table.title = "Energy by subgraph";
    table.columns = {{"", "", "hardware"},
                     {"Subgraph", "", "subgraph"},
                     {"Energy", "µJ", "energy_j", Align::right},
                     {"Share", "%", "share", Align::right},
                     {"Power", "W", "power_w", Align::right, 1}};
    EnergyParts all = parts_of(result.estimate.energy);
    for (std::size_t p = 0; p < kEnergyPartCount; ++p)
        table.columns.push_back({std::string(kEnergyPartNames[p]), "%", std::string(kEnergyPartKeys[p]),
                                 Align::right, all[p] > 0 ? 2 : 6});
    const double total = result.estimate.energy.total();
    const auto add = [&](std::string name, const EnergyBreakdown& energy, double seconds) {
        const double joules = energy.total();
        std::vector<Cell> row{{hardware_label(result)},
                              {std::move(name)},
                              cell_in(1e-6, joules),
                              percent_cell(joules / total),
                              seconds > 0 ? Cell{format_number(joules / seconds), joules / seconds}
                                          : Cell{"-"}};
        for (Cell& cell : part_cells(parts_of(energy), joules))
            row.push_back(std::move(cell));
        table.rows.push_back(std::move(row));
    };
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        add(result.partition->subgraphs[s.index].name, s.energy, s.latency_s);
    if (const EnergyBreakdown rest = outside_of_subgraphs(result.estimate); rest.total() > 1e-9 * total)
        add("outside subgraphs", rest, result.estimate.network_s);
    table.notes.push_back(
        "Control: instructions, tags, scheduling, tokens, configuration. Near memory: registers, L1, "
        "accumulators. Far memory: L2 and beyond. Movement: hops, weight loads, streamers, routing.");
    return table;
}

/// A network of several files: what each of them spends, and its subgraphs.
void add_parts(const Result& result, const EnergyView& view, Report& report) {
    Table table;
    table.title = "Energy by part";
    table.columns = {{"Part", "", "part"},
                     {"Runs", "", "repeat", Align::right},
                     {"Energy", "mJ", "energy_j", Align::right},
                     {"Share", "%", "share", Align::right}};
    const double total = result.estimate.energy.total();
    for (const ResultPart& part : result.parts) {
        const double joules = part.result->estimate.energy.total() * part.repeat;
        table.rows.push_back({{part.name},
                              {fmt::format("{:g}", part.repeat), part.repeat},
                              cell_in(1e-3, joules),
                              percent_cell(joules / total)});
    }
    report.blocks.push_back(std::move(table));
    if (!view.subgraphs)
        return;
    for (const ResultPart& part : result.parts) {
        report.blocks.push_back(Heading{3, part.name});
        report.blocks.push_back(by_subgraph(*part.result));
    }
}

nlohmann::ordered_json to_document(const Result& result, const EnergyView& view) {
    nlohmann::ordered_json document;
    document["model"] = result.model->name;
    document["hardware"] = hardware_label(result);
    document["status"] = std::string(status_text(result.estimate));
    if (!result.ok()) {
        document["reason"] = result.estimate.reason;
        return document;
    }
    const Estimate& e = result.estimate;
    document["batch"] = e.batch;
    for (const MetricField& field : fields_of(MetricTable::standard()))
        if (*field.metric == metric::energy || *field.metric == metric::power)
            document[field.key()] = field.of(*measure_of(result, *field.metric));
    document["peak_power_w"] = e.peak_power_w;
    document["wall_power_w"] =
        wall_power(*result.machine, e.power_w / result.devices(), result.devices()).total();
    const EnergyRollup rollup = roll_up(e.energy);
    document["rollup"] = {{"compute_j", rollup.compute_j},
                          {"memory_j", rollup.memory_j},
                          {"static_j", rollup.static_j},
                          {"control_j", rollup.control_j}};
    auto& events = document["events"] = nlohmann::ordered_json::array();
    for (const EnergyItem& item : energy_items(result))
        events.push_back({{"event", item.event},
                          {"count", item.count},
                          {"each_j", item.each_j},
                          {"energy_j", item.joules},
                          {"share", item.joules / e.energy.total()},
                          {"source", item.source}});
    if (view.subgraphs && result.partition) {
        auto& list = document["subgraphs"] = nlohmann::ordered_json::array();
        for (const SubgraphEstimate& s : e.subgraphs) {
            nlohmann::ordered_json entry{{"name", result.partition->subgraphs[s.index].name},
                                         {"energy_j", s.energy.total()}};
            const EnergyParts parts = parts_of(s.energy);
            for (std::size_t p = 0; p < kEnergyPartCount; ++p)
                entry[std::string(kEnergyPartKeys[p])] = parts[p];
            list.push_back(std::move(entry));
        }
    }
    return document;
}

} // namespace

Report describe_energy(std::span<const Result> results, const EnergyView& view) {
    Report report;
    report.title = "Energy, event by event";
    for (const Result& result : results) {
        if (!result.ok() || !result.machine->energy) {
            report.blocks.push_back(
                Paragraph{fmt::format("{}: no energy, {}.", hardware_label(result), result.estimate.reason),
                          Tone::bad});
            continue;
        }
        for (std::string& line : rollup_lines(result))
            report.blocks.push_back(Paragraph{std::move(line)});
        report.blocks.push_back(account(result));
        report.blocks.push_back(energy_conditions(result));
        if (view.subgraphs && result.partition)
            report.blocks.push_back(by_subgraph(result));
        if (!result.parts.empty())
            add_parts(result, view, report);
    }
    return report;
}

nlohmann::ordered_json energy_json(std::span<const Result> results, const EnergyView& view) {
    nlohmann::ordered_json document;
    document["schema"] = "archsim.explain_energy/1";
    auto& list = document["results"] = nlohmann::ordered_json::array();
    for (const Result& result : results)
        list.push_back(to_document(result, view));
    return document;
}

std::string energy_to_json(std::span<const Result> results, const EnergyView& view) {
    return document_text(energy_json(results, view));
}

} // namespace archsim
