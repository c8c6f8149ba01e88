#include "archsim/report/compare_models_report.hpp"

#include "archsim/report/comparison_charts.hpp"
#include "archsim/report/decision_report.hpp"
#include "archsim/report/generation_report.hpp"
#include "report/blocks/all_subgraphs_table.hpp"
#include "report/blocks/cold_start_table.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace archsim {

namespace {

std::span<const Result> results_of(const ModelComparison& c, std::size_t model) {
    const std::size_t per_model = c.models.empty() ? 0 : c.results.size() / c.models.size();
    return std::span(c.results).subspan(model * per_model, per_model);
}

void add_details(const Result& r, const CompareModelsView& view, Report& report) {
    report.blocks.push_back(Heading{2, fmt::format("{} ({})", r.device->name, family_label(r))});
    report.blocks.push_back(device_facts(r));
    if (!r.ok()) {
        report.blocks.push_back(Paragraph{fmt::format("No estimate: {}.", r.estimate.reason), Tone::bad});
        return;
    }
    report.blocks.push_back(performance_facts(r, view.metric_view()));
    if (!r.estimate.interval_basis.empty())
        report.blocks.push_back(
            Paragraph{fmt::format("  90 % interval from {}.", r.estimate.interval_basis)});
    if (view.verbose)
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

Table matrix(const ModelComparison& c, const Metric& by, const CostOptions& conditions) {
    Table table;
    const std::string unit = by.column_unit.empty() ? by.heading : by.column_unit;
    table.title = fmt::format("{} of every model ({})", by.title, unit);
    table.columns = {{"Model", "", "model"}};
    for (const Result& r : results_of(c, 0)) {
        const std::string stack = c.request.stacks.size() > 1 ? runtime_label(r) : std::string();
        table.columns.push_back({hardware_label(r), stack, r.hardware, Align::right});
    }
    std::set<std::string> reasons;
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        std::vector<Cell> row{{c.models[m]->name}};
        for (const Result& r : results_of(c, m)) {
            if (!r.ok())
                reasons.insert(
                    fmt::format("{} on {}: {}", c.models[m]->name, hardware_label(r), r.estimate.reason));
            row.push_back(r.ok() ? cell_of(by, measure_of(r, by, conditions))
                                 : Cell{std::string(name_of(r.estimate.status))});
        }
        table.rows.push_back(std::move(row));
    }
    table.notes.assign(reasons.begin(), reasons.end());
    return table;
}

const Metric& order_of(const ModelComparison& c, const CompareModelsView& view) {
    return view.sort_by != nullptr ? *view.sort_by : ranked_by(c.request.conditions.scenario);
}

/// A row per result, for spreadsheets.
Report flat_table(const ModelComparison& c, const CompareModelsView& view) {
    std::vector<RankedResult> rows;
    for (std::size_t m = 0; m < c.models.size(); ++m)
        for (RankedResult& row :
             ranked({results_of(c, m), static_cast<double>(c.request.workload.batch), &order_of(c, view)},
                    view.metric_view()))
            rows.push_back(row);
    Report report;
    report.title = "Model comparison";
    report.blocks.push_back(table_of({}, result_columns(view.metric_view()), rows));
    for (Block& block : explanation_blocks(c.results, view.explanations))
        report.blocks.push_back(std::move(block));
    return report;
}

} // namespace

Report describe(const ModelComparison& c, const CompareModelsView& view, Format format) {
    if (format == Format::csv)
        return flat_table(c, view);
    Report report;
    report.title = "Model comparison";
    const Metric& by = order_of(c, view);
    const MetricView shown = view.metric_view();
    const std::string scope = c.request.conditions.scope == Scope::kernel
                                  ? "device time only, no transfers and no host work"
                                  : "end to end, with transfers and host work";
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const ModelFacts& model = *c.models[m];
        const auto results = results_of(c, m);
        report.blocks.push_back(Heading{1, fmt::format("MODEL ANALYSIS: {}", model.title)});
        if (!c.deployment_title.empty())
            report.blocks.push_back(Paragraph{fmt::format("Deployment: {}", c.deployment_title)});
        report.blocks.push_back(
            Paragraph{fmt::format("Batch size {}, precision {}; {}.", c.request.workload.batch,
                                  precision_name(c.request.conditions.precision), scope)});
        report.blocks.push_back(Heading{3, "Model Characteristics:"});
        report.blocks.push_back(model_facts(model, results));
        for (const Finding& finding : model.findings)
            report.blocks.push_back(
                Paragraph{to_string(finding), finding.severity == Severity::error ? Tone::bad : Tone::muted});
        report.blocks.push_back(ranking_table(results, by, shown, view.top));
        if (c.request.decision.active())
            for (Block& block :
                 decision_blocks(decide(results, c.request.decision), results, hardware_labels(results)))
                report.blocks.push_back(std::move(block));
        if (view.cold_start)
            report.blocks.push_back(cold_start_table(results));
        add_generation_and_parts(results, report);
        if (format == Format::html) {
            report.blocks.push_back(Heading{2, "Charts"});
            for (Block& chart : comparison_charts(results))
                report.blocks.push_back(std::move(chart));
        }
        const auto ranks = rank_results(results, by, shown.conditions);
        for (const Rank& rank : ranks) {
            const Result& r = results[rank.result];
            if (r.device && (view.verbose || (&rank == &ranks.front() && r.ok())))
                add_details(r, view, report);
        }
        Explanations asked = view.explanations;
        asked.memory = asked.memory || view.verbose;
        for (Block& block : explanation_blocks(results, asked))
            report.blocks.push_back(std::move(block));
    }
    if (c.models.size() > 1) {
        report.blocks.push_back(Heading{1, "ALL MODELS"});
        report.blocks.push_back(matrix(c, by, shown.conditions));
    }
    return report;
}

Report tabulate_subgraphs(const ModelComparison& comparison) {
    return {"Subgraphs", {all_subgraphs_table(comparison.results)}};
}

} // namespace archsim
