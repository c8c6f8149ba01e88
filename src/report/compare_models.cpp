#include "archsim/report/compare_models.hpp"

#include "archsim/report/generation.hpp"
#include "report/number_format.hpp"
#include "report/result_text.hpp"
#include "report/subgraph_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace archsim {

namespace {

std::span<const Result> results_of(const ModelComparison& c, std::size_t model) {
    const std::size_t per_model = c.models.empty() ? 0 : c.results.size() / c.models.size();
    return std::span(c.results).subspan(model * per_model, per_model);
}

Facts characteristics(const ModelFacts& model, std::span<const Result> results) {
    Facts facts;
    facts.items.push_back({"Parameters", format_count(model.parameters)});
    facts.items.push_back({"Multiply-accumulates", fmt::format("{} ({} operations)", format_count(model.macs),
                                                               format_count(model.operations))});
    std::string dims;
    for (const auto& [name, size] : model.dims)
        dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", name, size);
    if (!dims.empty())
        facts.items.push_back({"Sizes", dims});
    std::set<std::size_t> counts;
    for (const Result& r : results)
        if (r.partition)
            counts.insert(r.partition->subgraphs.size());
    if (!counts.empty())
        facts.items.push_back({"Total Subgraphs", *counts.begin() == *counts.rbegin()
                                                      ? fmt::format("{}", *counts.begin())
                                                      : fmt::format("{} to {}, as the software stack fuses",
                                                                    *counts.begin(), *counts.rbegin())});
    const double total = std::max(1.0, model.operators);
    for (const auto& [kind, count] : operator_mix(model))
        facts.items.push_back({kind, fmt::format("{:.0f} % ({} operators)", 100 * count / total, count), 1});
    return facts;
}

Table ranking_table(const ModelComparison& c, std::span<const Result> results) {
    const bool throughput = c.request.scenario == Scenario::throughput;
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
                     {"Runtime", "", "runtime", Align::left, 3}};
    std::set<std::string> notes;
    for (const Rank& rank : rank_results(results, throughput ? RankBy::throughput : RankBy::latency)) {
        const Result& r = results[rank.result];
        const Estimate& e = r.estimate;
        std::vector<Cell> row{{hardware_label(r)}, {family_label(r)}};
        if (!r.ok()) {
            while (row.size() < table.columns.size())
                row.push_back({"-"});
            row[8] = {std::string(name_of(e.status)), {}, Tone::bad};
            notes.insert(fmt::format("{}: {}", hardware_label(r), e.reason));
        } else {
            row.push_back({format_number(e.latency_s * 1e3), e.latency_s});
            row.push_back({fmt::format("{}-{}", format_number(e.latency_interval.low * 1e3),
                                       format_number(e.latency_interval.high * 1e3))});
            row.push_back({format_number(e.throughput_per_s), e.throughput_per_s});
            row.push_back({format_number(e.power_w), e.power_w});
            row.push_back({format_number(e.throughput_per_s / e.power_w), e.throughput_per_s / e.power_w});
            row.push_back({format_number(e.energy_per_inference_j * 1e3), e.energy_per_inference_j});
            row.push_back({fmt::format("{}{}", rank.place, rank.tied ? "=" : ""), rank.place,
                           rank.place == 1 ? Tone::good : Tone::plain});
            row.push_back({precision_label(r)});
            row.push_back({fmt::format("{:.1f}", e.utilization * 100), e.utilization});
            row.push_back({format_number(e.memory.peak_bytes / 1e6), e.memory.peak_bytes});
            row.push_back({r.runtime->id});
            if (!e.precision_note.empty())
                notes.insert(fmt::format("* {}: asked {}, {}", hardware_label(r), precision_name(r.requested),
                                         e.precision_note));
        }
        table.rows.push_back(std::move(row));
    }
    for (const auto& row : table.rows)
        if (row[8].text.ends_with('=')) {
            table.notes.push_back(
                "= tied: the 90 % intervals overlap, the estimates cannot tell these apart");
            break;
        }
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    return table;
}

void add_details(const Result& r, bool verbose, Report& report) {
    report.blocks.push_back(Heading{2, fmt::format("{} ({})", r.device->name, family_label(r))});
    report.blocks.push_back(device_facts(r));
    if (!r.ok()) {
        report.blocks.push_back(Paragraph{fmt::format("No estimate: {}.", r.estimate.reason), Tone::bad});
        return;
    }
    report.blocks.push_back(performance_facts(r));
    if (!r.estimate.interval_basis.empty())
        report.blocks.push_back(
            Paragraph{fmt::format("  90 % interval from {}.", r.estimate.interval_basis)});
    if (verbose)
        report.blocks.push_back(subgraph_table(r));
}

void add_generation_and_parts(std::span<const Result> results, Report& report) {
    const auto generated =
        std::find_if(results.begin(), results.end(), [](const Result& r) { return !!r.generation; });
    if (generated != results.end()) {
        report.blocks.push_back(generation_table(results));
        report.blocks.push_back(generation_definitions(*generated->generation));
    }
    for (const Result& r : results)
        if (!r.parts.empty())
            report.blocks.push_back(parts_table(r));
}

Table matrix(const ModelComparison& c) {
    Table table;
    table.title = c.request.scenario == Scenario::throughput ? "Throughput of every model (FPS)"
                                                             : "Latency of every model (ms)";
    table.columns = {{"Model", "", "model"}};
    for (const Result& r : results_of(c, 0))
        table.columns.push_back({hardware_label(r), "", r.hardware, Align::right});
    std::set<std::string> reasons;
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        std::vector<Cell> row{{c.models[m]->name}};
        for (const Result& r : results_of(c, m)) {
            if (!r.ok())
                reasons.insert(
                    fmt::format("{} on {}: {}", c.models[m]->name, hardware_label(r), r.estimate.reason));
            const double value = c.request.scenario == Scenario::throughput ? r.estimate.throughput_per_s
                                                                            : r.estimate.latency_s * 1e3;
            row.push_back(r.ok() ? Cell{format_number(value), value}
                                 : Cell{std::string(name_of(r.estimate.status))});
        }
        table.rows.push_back(std::move(row));
    }
    table.notes.assign(reasons.begin(), reasons.end());
    return table;
}

} // namespace

Report describe(const ModelComparison& c, const CompareModelsView& view) {
    Report report;
    report.title = "Model comparison";
    const std::string scope = c.request.scope == Scope::kernel
                                  ? "device time only, no transfers and no host work"
                                  : "end to end, with transfers and host work";
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const ModelFacts& model = *c.models[m];
        const auto results = results_of(c, m);
        report.blocks.push_back(Heading{1, fmt::format("MODEL ANALYSIS: {}", model.title)});
        if (!c.deployment_title.empty())
            report.blocks.push_back(Paragraph{fmt::format("Deployment: {}", c.deployment_title)});
        report.blocks.push_back(Paragraph{fmt::format("Batch size {}, precision {}; {}.",
                                                      c.request.batch_size, c.request.precision, scope)});
        report.blocks.push_back(Heading{3, "Model Characteristics:"});
        report.blocks.push_back(characteristics(model, results));
        for (const Finding& finding : model.findings)
            report.blocks.push_back(
                Paragraph{to_string(finding), finding.severity == Severity::error ? Tone::bad : Tone::muted});
        report.blocks.push_back(ranking_table(c, results));
        add_generation_and_parts(results, report);
        const auto ranks = rank_results(results, RankBy::latency);
        for (const Rank& rank : ranks) {
            const Result& r = results[rank.result];
            if (r.device && (view.verbose || (&rank == &ranks.front() && r.ok())))
                add_details(r, view.verbose, report);
        }
    }
    if (c.models.size() > 1) {
        report.blocks.push_back(Heading{1, "ALL MODELS"});
        report.blocks.push_back(matrix(c));
    }
    return report;
}

} // namespace archsim
