#include "archsim/report/compare_architectures.hpp"

#include "archsim/report/decision_report.hpp"
#include "report/architectures.hpp"
#include "report/explanation.hpp"

#include <fmt/format.h>

#include <array>

namespace archsim {

namespace {

/// What is asked for beside the comparison itself.
void add_extras(const ArchitectureComparison& c, Report& report) {
    for (Block& block : explanation_blocks(c.results, c.request.explanations))
        report.blocks.push_back(std::move(block));
    if (c.decision)
        for (Block& block : decision_blocks(*c.decision, c.results, c.labels))
            report.blocks.push_back(std::move(block));
}

} // namespace

std::string_view name_of(ComparisonLevel level) {
    static constexpr std::array<std::string_view, 3> kNames = {"summary", "detailed", "subgraph"};
    return kNames[static_cast<std::size_t>(level)];
}

std::optional<ComparisonLevel> parse_comparison_level(std::string_view text) {
    for (const auto level : {ComparisonLevel::summary, ComparisonLevel::detailed, ComparisonLevel::subgraph})
        if (name_of(level) == text)
            return level;
    return std::nullopt;
}

Report describe(const ArchitectureComparison& c) {
    Report report;
    report.title = fmt::format("Architecture Comparison: {}", c.model->title);
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(Paragraph{
        fmt::format("Batch Size: {}, Precision: {}; {}", c.request.batch_size, c.request.precision,
                    c.request.scope == Scope::kernel ? "device time only, no transfers and no host work"
                                                     : "end to end, with transfers and host work")});
    for (const Finding& finding : c.model->findings)
        report.blocks.push_back(
            Paragraph{to_string(finding), finding.severity == Severity::error ? Tone::bad : Tone::muted});
    if (c.explanation)
        add_explanation(c, *c.explanation, report);
    if (c.what_if)
        add_what_if(c, report);
    if (c.batch_sweep)
        add_batch_sweep(c, report);
    if (c.sensitivity)
        add_sensitivity(c, report);
    if (c.explanation || c.what_if || c.batch_sweep || c.sensitivity) {
        add_extras(c, report);
        return report;
    }
    switch (c.request.level) {
    case ComparisonLevel::summary:
        add_summary(c, report);
        break;
    case ComparisonLevel::detailed:
        add_detailed(c, report);
        break;
    case ComparisonLevel::subgraph:
        add_subgraphs(c, report);
        add_hybrids(c, report);
        break;
    }
    add_extras(c, report);
    return report;
}

} // namespace archsim
