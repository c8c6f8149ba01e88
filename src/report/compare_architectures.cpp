#include "archsim/report/compare_architectures.hpp"

#include "report/architectures.hpp"
#include "report/explanation.hpp"

#include <fmt/format.h>

#include <array>

namespace archsim {

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
    if (c.explanation) {
        add_explanation(c, *c.explanation, report);
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
        break;
    }
    return report;
}

} // namespace archsim
