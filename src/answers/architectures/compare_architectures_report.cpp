#include "answers/architectures/architectures.hpp"

#include "report/blocks/comparison_charts.hpp"
#include "report/blocks/decision_report.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/format_parts.hpp"
#include "result/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

/// The answer at the level asked for.
void add_level(const ArchitectureComparison& c, Format format, Report& report) {
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
std::string asked_format(const ArchitectureComparison& c) {
    const auto ran = std::find_if(c.results.begin(), c.results.end(), [](const Result& r) { return r.ok(); });
    if (c.request.conditions.format_of_device && ran != c.results.end())
        return mixed_formats(c.results) ? "usual of each device" : multiplied_format(*ran);
    return precision_name(c.request.conditions.precision) +
           (mixed_formats(c.results) ? " requested, not used by all" : "");
}

/// "Energy of GPU: 37.1 mJ per inference: compute 16 %, ...", of every architecture, above the rest.
void add_energy_lines(const ArchitectureComparison& c, std::vector<std::string>& lines) {
    std::vector<std::string> own;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (c.results[i].ok())
            own.push_back(fmt::format("{}{}: {}.", c.labels[i], standing_note(c.results[i].estimate),
                                      rollup_lines(c.results[i]).front()));
    lines.insert(lines.begin(), own.begin(), own.end());
}

/// What is asked for beside the comparison itself.
void add_extras(const ArchitectureComparison& c, const Explanations& explanations, Report& report) {
    for (Block& block : explanation_blocks(c.results, explanations))
        report.blocks.push_back(std::move(block));
    if (c.decision)
        for (Block& block : decision_blocks(*c.decision, c.results, c.labels))
            report.blocks.push_back(std::move(block));
}

} // namespace

Report describe(const ArchitectureComparison& c, const Explanations& explanations, Format format) {
    Report report;
    report.title = fmt::format("Architecture Comparison: {}", c.model->title);
    report.blocks.push_back(Heading{1, report.title});
    if (!c.explanation) {
        Takeaway takeaway = verdict_block(architecture_verdict(c));
        if (c.batch_sweep) // what was asked comes first
            add_sweep_lines(c, takeaway.lines);
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
    add_extras(c, explanations, report);
    if (format == Format::html)
        for (Block& chart : comparison_charts(c.results))
            report.blocks.push_back(std::move(chart));
    return report;
}

} // namespace archsim
