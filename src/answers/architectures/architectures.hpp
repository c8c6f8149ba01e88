#pragma once
// Sections of the compare_architectures report, and the words they share.

#include "answers/architectures/compare_architectures_report.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/verdict.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Title, sizes, recommendations, table, key insights, next steps.
void add_summary(const ArchitectureComparison& c, Report& report);
/// Energy, performance, memory and bottlenecks of every architecture in `c.detailed`.
void add_detailed(const ArchitectureComparison& c, Format format, Report& report);
/// One row per common region: cost on every architecture, winner and margin; equal ones in one row in text
/// and Markdown.
void add_subgraphs(const ArchitectureComparison& c, Format format, Report& report);

/// The best split of the network over two devices, where it beats either alone.
void add_hybrids(const ArchitectureComparison& c, Report& report);
/// Before and after of `--what-if`.
void add_what_if(const ArchitectureComparison& c, Report& report);
/// Assumed inputs, varied.
void add_sensitivity(const ArchitectureComparison& c, Report& report);
/// Best batches, crossovers and a chart.
void add_batch_sweep(const ArchitectureComparison& c, Report& report);
/// What a sweep of batches says first, before `lines`, which are of one batch.
void add_sweep_lines(const ArchitectureComparison& c, std::vector<std::string>& lines);

/// "Why is GPU different from TPU?": the attribution in words, a table that adds up, subgraphs, bottlenecks,
/// flips. The waterfall of the causes is drawn in HTML alone; elsewhere the bars of the table say it.
void add_explanation(const ArchitectureComparison& c, const Explanation& explanation, Format format,
                     Report& report);

/// What the answer comes down to, by the request's metric, under its limits.
VerdictQuestion architecture_verdict(const ArchitectureComparison& c);

/// What was asked of every architecture.
Question asked_question(const ArchitectureComparison& c);
/// A command of this tool with the workload of the request and more flags, quoted for a shell.
std::string tool_command(const ArchitectureComparison& c, const std::string& more);
/// Result::estimate of label, for sentences: "GPU (H100)" where the label is a family, else the label.
std::string full_label(const ArchitectureComparison& c, std::size_t index);

/// The winner of a region by latency or energy (whatever the request's metric comes down to), and how many
/// times worse the second is (0: no second).
struct RegionWinner {
    std::size_t best = 0; ///< index into ArchitectureComparison::compared: measured, where any was
    double margin = 0;    ///< to the second of those
    std::optional<std::size_t> projected = {}; ///< a projection that would be better, likewise
};
RegionWinner region_winner(const ArchitectureComparison& c, const CommonRegion& region);

/// "hybrids", "decision", "what_if", "sensitivity" and "batch_sweep"; null for what was not asked.
Members<ArchitectureComparison> scenario_members(const MetricView& view);

/// From the value of the second architecture to that of the first, one step per cause.
Chart explanation_chart(const ArchitectureComparison& comparison, const Explanation& explanation);

/// Adds the table and the list; nothing where a difference has no regions.
void add_regions_of(const ArchitectureComparison& c, const Explanation& explanation, Report& report);

/// One row per architecture: units x operations per clock, energy per operation, and shares of the energy
/// without static power. Results must be estimates of one model; those without an estimate keep their row.
Table architecture_differences(std::span<const std::string> labels, std::span<const Result> results);

} // namespace archsim
