#pragma once
// Sections of the compare_architectures report, and the words they share.

#include "answers/architectures/compare_architectures.hpp"
#include "answers/architectures/explanation.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/verdict.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// `explanations`: energy, memory and cost of every architecture, below the rest. HTML: with charts.
Report describe(const ArchitectureComparison& comparison, const Explanations& explanations = {},
                Format format = Format::text);
/// {"schema": "archsim.compare_architectures/1", ...}; unknown values are null.
std::string to_json(const ArchitectureComparison& comparison, const Explanations& explanations = {});

// What compare_architectures estimates beside the architectures as they are. A request and its choices go in;
// results come out: of other batches, of changed devices, and of the smallest change that turns a pair
// around.

struct ArchitectureChoice {
    std::string label;    ///< title of the family where it was named by family, else the device's name
    std::string hardware; ///< "NAME" or "NAME@MODE"
};

/// Families stand for the device that the deployment "families" lists for them; nothing named stands for the
/// deployment "architectures", "all" for every family. Throws InputError for names that are neither a family
/// nor a device, UsageError for the same architecture twice.
std::vector<ArchitectureChoice> choose_architectures(const Session& session,
                                                     const std::vector<std::string>& asked);

/// Adds the family that is named beside the others where it is not among them.
void add_architecture(const Session& session, const std::string& name,
                      std::vector<ArchitectureChoice>& choices);

/// Index of the choice that `name` means: its label, family or device, in any case. Throws UsageError that
/// lists the labels.
std::size_t find_architecture(const std::vector<ArchitectureChoice>& choices, const std::string& name,
                              const std::string& flag);

/// The request's workload at every batch of its sweep; its limits say which batches may be the best.
BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices);

/// Two devices and a question.
struct RankedPair {
    const Session& session;
    std::string hardware[2], label[2];
    Workload workload;
    Conditions conditions;
    const Metric* metric = nullptr;
    CostOptions cost;
};

/// Fills the flips of an explanation: every lever of either device up to a factor of 100, batches up to 256,
/// every precision.
void find_flips(const RankedPair& pair, Explanation& out);

/// Every input of assumed source that the machines use, 20 % down and up, one at a time.
Sensitivity run_sensitivity(const Session& session, const ArchitectureComparison& c,
                            const std::vector<ArchitectureChoice>& choices);

/// Estimates every architecture with the changes that the request asks for: LEVER=FACTOR ("bandwidth=2x",
/// "fixed_cost=50%"), tdp=WATTS, batch=N or precision=NAME; ARCHITECTURE:LEVER=... changes one device only.
/// Throws UsageError for anything else.
WhatIf run_what_if(const Session& session, const CompareArchitecturesRequest& request,
                   const std::vector<ArchitectureChoice>& choices);

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
