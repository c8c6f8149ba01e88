#include "answers/architectures/architectures.hpp"

#include "report/blocks/energy_report.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/format_parts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

static void add_level(const ArchitectureComparison& c, Format format, Report& report) {
    switch (c.request.level) {
    case ComparisonLevel::summary:
        add_summary(c, report);
        break;
    case ComparisonLevel::detailed:
        add_detailed(c, format, report);
        break;
    case ComparisonLevel::subgraph:
        add_subgraphs(c, format, report);
        add_hybrids(c, report);
        break;
    }
}

/// "fp32", and whether all of them run it.
static std::string asked_format(const ArchitectureComparison& c) {
    const auto ran = std::ranges::find_if(c.results, &Result::ok);
    if (c.request.conditions.format_of_device && ran != c.results.end())
        return mixed_formats(c.results) ? "usual of each device" : multiplied_format(*ran);
    return precision_name(c.request.conditions.precision) +
           (mixed_formats(c.results) ? " requested, not used by all" : "");
}

/// "Energy of GPU: 37.1 mJ per inference: compute 16 %, ...", of every architecture, above the rest.
static void add_energy_lines(const ArchitectureComparison& c, std::vector<std::string>& lines) {
    std::vector<std::string> own;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (c.results[i].ok())
            own.push_back(fmt::format("{}: {}.", marked_label(c, i), rollup_lines(c.results[i]).front()));
    lines.insert(lines.begin(), own.begin(), own.end());
}

Report describe(const ArchitectureComparison& c, const Explanations& explanations, Format format) {
    Report report{fmt::format("Architecture Comparison: {}", c.model->title), {}};
    report.blocks.push_back(Heading{1, report.title});
    if (!c.explanation) {
        Takeaway takeaway = verdict_block(architecture_verdict(c));
        if (c.batch_sweep) // what was asked comes first
            add_sweep_lines(c, takeaway.lines);
        else if (c.what_if)
            add_what_if_lines(c, takeaway.lines);
        else if (explanations.energy)
            add_energy_lines(c, takeaway.lines);
        report.blocks.push_back(std::move(takeaway));
    }
    report.blocks.push_back(Paragraph{fmt::format(
        "Batch Size: {}, Precision: {}; {}", c.request.workload.batch, asked_format(c),
        c.request.conditions.scope == Scope::kernel ? "device time only, no transfers and no host work"
                                                    : "end to end, with transfers and host work")});
    for (FindingLine& found : finding_lines(c.model->findings))
        report.blocks.push_back(
            Paragraph{std::move(found.text), found.severity == Severity::error ? Tone::bad : Tone::muted});
    if (c.explanation)
        add_explanation(c, *c.explanation, format, report);
    if (c.what_if)
        add_what_if(c, report);
    if (c.batch_sweep)
        add_batch_sweep(c, report);
    if (c.sensitivity)
        add_sensitivity(c, report);
    if (!c.explanation && !c.what_if && !c.batch_sweep && !c.sensitivity)
        add_level(c, format, report);
    add_blocks(report, explanation_blocks(c.results, explanations));
    if (c.decision)
        add_blocks(report, decision_blocks(*c.decision, c.results, c.labels));
    if (format == Format::html)
        add_blocks(report, comparison_charts(c.results));
    return report;
}

std::string full_label(const ArchitectureComparison& c, std::size_t index) {
    const std::string device = hardware_label(c.results[index]);
    return c.labels[index] == device || c.labels[index] == c.results[index].hardware
               ? c.labels[index]
               : fmt::format("{} ({})", c.labels[index], device);
}

std::string marked_label(const ArchitectureComparison& c, std::size_t index) {
    return c.labels[index] + standing_note(c.results[index].estimate);
}

VerdictQuestion architecture_verdict(const ArchitectureComparison& c) {
    return {c.results,
            c.labels,
            shown_metric(c.results, *c.request.metric),
            c.request.decision.cost,
            c.decision ? &*c.decision : nullptr,
            c.modes,
            c.tried};
}

Question asked_question(const ArchitectureComparison& c) {
    for (const Result& result : c.results)
        if (result.workload) // with the format of the model's file
            return {*result.workload, c.request.conditions};
    return {c.request.workload, c.request.conditions};
}

std::string tool_command(const ArchitectureComparison& c, const std::string& more) {
    const CompareArchitecturesRequest& q = c.request;
    std::string line = "compare_architectures --model " + shell_quoted(q.model);
    if (!q.architectures.empty()) {
        line += " --architectures";
        for (const std::string& name : q.architectures)
            line += " " + shell_quoted(name);
    }
    line += command_flags(asked_question(c));
    return line + (more.empty() ? "" : " " + more);
}

} // namespace archsim
