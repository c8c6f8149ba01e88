#include "report/ranking_table.hpp"

#include "report/cold_start_table.hpp"
#include "report/number_format.hpp"
#include "report/result_sources.hpp"
#include "report/result_text.hpp"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace archsim {

namespace {

/// A device stands in more than one row, told apart by its software stack.
bool several_stacks(std::span<const Result> results) {
    std::set<std::string> devices;
    for (const Result& r : results)
        devices.insert(hardware_label(r));
    return devices.size() < results.size();
}

} // namespace

Table ranking_table(std::span<const Result> results, Scenario scenario, int top) {
    const bool throughput = scenario == Scenario::throughput;
    Table table;
    table.title =
        throughput ? "Hardware Comparison (Sorted by Throughput)" : "Hardware Comparison (Sorted by Latency)";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Type", "", "family"},
                     {"Latency", "ms", "latency_s", Align::right},
                     {"90 %", "ms", "latency_interval", Align::right, 2},
                     {"FPS", "", "throughput_per_s", Align::right},
                     {"Power", "W", "power_w", Align::right},
                     {"FPS/W", "", "efficiency_per_w", Align::right},
                     {"Energy", "mJ/inf", "energy_per_inference_j", Align::right},
                     {"Rank", "", "rank", Align::right},
                     {"Precision", "", "executed_precision", Align::left, 1},
                     {"Util", "%", "utilization", Align::right, 4},
                     {"Memory", "MB", "peak_memory_bytes", Align::right, 5},
                     {"Runtime", "", "runtime", Align::left, several_stacks(results) ? 0 : 3}};
    std::set<std::string> notes;
    for (const Rank& rank : rank_results(results, throughput ? RankBy::throughput : RankBy::latency)) {
        if (top > 0 && table.rows.size() == static_cast<std::size_t>(top)) {
            notes.insert(fmt::format("and {} more: --top 0 shows all", results.size() - table.rows.size()));
            break;
        }
        const Result& r = results[rank.result];
        const Estimate& e = r.estimate;
        std::vector<Cell> row{{hardware_label(r)}, {family_label(r)}};
        if (!r.ok()) {
            while (row.size() < table.columns.size())
                row.push_back({"-"});
            row[8] = {std::string(name_of(e.status)), {}, Tone::bad};
            row.back() = {runtime_label(r)};
            notes.insert(fmt::format("{}: {}", hardware_label(r), e.reason));
        } else {
            row.push_back({format_number(e.latency_s * 1e3), e.latency_s, Tone::plain, latency_detail(r)});
            row.push_back({fmt::format("{}-{}", format_number(e.latency_interval.low * 1e3),
                                       format_number(e.latency_interval.high * 1e3))});
            row.push_back({format_number(e.throughput_per_s), e.throughput_per_s});
            row.push_back({format_number(e.power_w), e.power_w});
            row.push_back({format_number(e.throughput_per_s / e.power_w), e.throughput_per_s / e.power_w});
            row.push_back({format_number(e.energy_per_inference_j * 1e3), e.energy_per_inference_j,
                           Tone::plain, energy_detail(r)});
            row.push_back(
                {rank.text(), rank.place, rank.place == 1 && !rank.projected ? Tone::good : Tone::plain});
            row.push_back({precision_label(r)});
            row.push_back({fmt::format("{:.1f}", e.utilization * 100), e.utilization});
            row.push_back({format_number(e.memory.peak_bytes / 1e6), e.memory.peak_bytes, Tone::plain,
                           memory_detail(r)});
            row.push_back({runtime_label(r)});
            if (e.pieces > 1)
                notes.insert(fmt::format("{}: runs the batch in up to {:g} pieces, whose activations stay on "
                                         "the chip longer",
                                         hardware_label(r), e.pieces));
            if (!e.precision_note.empty())
                notes.insert(fmt::format("* {}: asked {}, {}", hardware_label(r), precision_name(r.requested),
                                         e.precision_note));
        }
        table.rows.push_back(std::move(row));
    }
    for (const auto& row : table.rows)
        if (row[8].text.starts_with('(')) {
            table.notes.emplace_back(
                "() projected: nobody measured this chip or this stack on its family; counted "
                "for nobody's rank");
            break;
        }
    for (const auto& row : table.rows)
        if (row[8].text.find('=') != std::string::npos) {
            table.notes.push_back(
                "= tied: the 90 % intervals overlap, the estimates cannot tell these apart");
            break;
        }
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    return table;
}

namespace {

/// A number as it is, or an empty field.
Cell number_cell(bool known, double value) {
    return known && std::isfinite(value) ? Cell{{}, value} : Cell{};
}

std::vector<Cell> result_row(const Result& r, const RankedGroup& group, int place) {
    const Estimate& e = r.estimate;
    const bool ok = r.ok(), sized = ok || e.status == Status::does_not_fit;
    const auto start = cold_start_of(r);
    return {{r.model->name},
            number_cell(true, group.batch_size),
            {r.device ? r.device->id : r.hardware},
            {r.device ? std::string(name_of(r.device->family)) : std::string()},
            {r.power_mode},
            {runtime_label(r)},
            {precision_name(r.requested)},
            {ok ? precision_name(e.executed) : std::string()},
            {std::string(name_of(e.status))},
            {e.reason.empty() ? e.precision_note : e.reason},
            number_cell(ok, e.latency_s),
            number_cell(ok, e.latency_interval.low),
            number_cell(ok, e.latency_interval.high),
            number_cell(ok, e.throughput_per_s),
            number_cell(ok, e.power_w),
            number_cell(ok, e.throughput_per_s / e.power_w),
            number_cell(ok, e.energy_per_inference_j),
            number_cell(ok, e.utilization),
            number_cell(sized, e.memory.peak_bytes),
            number_cell(sized, e.memory.weight_bytes),
            number_cell(start.has_value(), start ? start->first_s() : 0),
            number_cell(place > 0, place),
            {ok ? (e.projected ? "projected" : "measured") : ""}};
}

} // namespace

Table results_table(std::span<const RankedGroup> groups) {
    Table table;
    for (const char* key : {"model",
                            "batch_size",
                            "hardware",
                            "family",
                            "power_mode",
                            "runtime",
                            "precision",
                            "executed_precision",
                            "status",
                            "reason",
                            "latency_s",
                            "latency_low_s",
                            "latency_high_s",
                            "throughput_per_s",
                            "power_w",
                            "efficiency_per_w",
                            "energy_per_inference_j",
                            "utilization",
                            "peak_memory_bytes",
                            "weight_bytes",
                            "first_inference_s",
                            "rank",
                            "belief"})
        table.columns.push_back({key, "", key});
    for (const RankedGroup& group : groups) {
        const RankBy by = group.scenario == Scenario::throughput ? RankBy::throughput : RankBy::latency;
        for (const Rank& rank : rank_results(group.results, by))
            table.rows.push_back(result_row(group.results[rank.result], group, rank.place));
    }
    return table;
}

} // namespace archsim
