#pragma once
// Why one architecture differs from another, and what would turn their ranking around.

#include "answers/batch/batch.hpp"
#include "answers/difference/attribution.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"
#include "result/common_regions.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Largest improvement of one part that a new version of a device could bring.
inline constexpr double kPlausibleFactor = 4;

/// The smallest change of one thing after which the other one of the pair is better.
struct Flip {
    std::string change;                  ///< name of a part, "batch" or "precision"
    std::string title;                   ///< for sentences: "memory bandwidth"
    std::string architecture;            ///< whose device changes; empty: both run the changed workload
    double factor = 1;                   ///< of a part: on its own value
    std::int64_t batch = 0;              ///< of "batch"
    std::vector<std::string> precisions; ///< of "precision": formats with this same outcome
    double a_value = 0, b_value = 0;     ///< after the change
};

struct Explanation {
    std::size_t a = 0, b = 0; ///< results
    Attribution attribution;
    /// The same pair by latency, where time is among the causes of `attribution`.
    std::optional<Attribution> time;
    bool overlapping = false;         ///< odds of less than 3 to 1
    std::vector<Flip> flips;          ///< smallest change first, then batch and precision
    std::vector<std::string> no_flip; ///< titles of parts that do not turn the ranking within `flip_limit`
    double flip_limit = 0;
};

/// Bytes that cross from one device to the other.
struct HybridTransfer {
    std::size_t before = 0; ///< first region after the change of device
    double bytes = 0, seconds = 0, joules = 0;
};

/// A graph spread over two devices.
struct HybridSplit {
    std::vector<CommonRegion> regions;     ///< of the two results, in topological order
    std::vector<std::uint8_t> on_b;        ///< per region: 1 on the second device
    std::vector<HybridTransfer> transfers; ///< in order
    double value = 0;                      ///< seconds or joules of a batch
    double a_value = 0, b_value = 0;       ///< of either device alone
    /// True when the split beats either device alone.
    bool wins() const { return value < a_value && value < b_value; }
};

/// Seconds or joules of a batch under a given assignment of the regions (1: on the second device), as
/// best_split counts them. Absent where best_split is.
std::optional<double> split_value(const Result& a, const Result& b, const Metric& metric,
                                  std::span<const std::uint8_t> on_b);

/// The best split that uses both devices: a shortest path over (region, device) in topological order. Every
/// change of device moves all activations alive at that point over the slower of the two host links (the
/// memory of a device that shares the host's), and costs both sides the start of a kernel. Both pay their
/// fixed cost per inference. For energy, the device that waits draws its static power, and bytes cost both
/// links' energy. `metric` is latency or energy. Absent for multi-part models, fewer than two regions, and
/// devices without any path for a transfer.
std::optional<HybridSplit> best_split(const Result& a, const Result& b, const Metric& metric);

// One model on several architectures. A request that names the model, its sizes and the architectures goes
// in; a result for each, which is best, why two of them differ, and what would turn their ranking around come
// out.

enum class ComparisonLevel : std::uint8_t { summary, detailed, subgraph };

struct CompareArchitecturesRequest {
    std::string model; ///< catalogue name or path of the workload's model
    Workload workload = {};
    Conditions conditions = {};
    std::vector<std::string> architectures; ///< families, FAMILY=DEVICE or devices; empty: the defaults
    ComparisonLevel level = ComparisonLevel::summary;
    std::string architecture;         ///< of the detailed level; empty: all
    std::vector<std::string> explain; ///< two architectures, or none
    const Metric* metric = &metric::energy;
    std::string baseline;             ///< of the "vs" column; empty: the fastest, the first GPU in detail
    DecisionRequest decision;         ///< with the prices of every cost
    std::vector<std::string> what_if; ///< "bandwidth=2x", "tdp=15W", "batch=8", "GPU:peak=50%"
    bool sensitivity = false;
    std::vector<std::int64_t> batch_sweep;
    const MetricTable* metrics = &MetricTable::standard(); ///< what its tables and documents hold

    /// The metrics shown, at the prices of the decision.
    MetricView metric_view() const { return {metrics, decision.cost}; }
};

/// The same architectures with other devices or another workload.
struct WhatIf {
    std::vector<std::string> asked;
    std::vector<Result> results; ///< one per architecture
};

/// One assumed input, varied down and up.
struct SensitivityRow {
    std::size_t architecture = 0;
    std::string input;
    double effect_down = 0, effect_up = 0;   ///< relative change of the metric
    std::optional<std::size_t> other_winner; ///< who wins then, where that changes
};
/// The change of the comparison's metric by each assumed input.
struct Sensitivity {
    double variation = 0;             ///< 0.2: each input by 20 % down and up
    int varied = 0;                   ///< inputs tried
    std::vector<SensitivityRow> rows; ///< those with an effect: first what changes the winner, then by size
};

/// From this batch on `winner` is better than `loser`.
struct Crossover {
    const Metric* metric = nullptr;
    std::size_t winner = 0, loser = 0;
    std::int64_t batch = 0;
};
/// Every architecture over batch sizes.
struct BatchSweep {
    BatchAnalysis analysis; ///< a series per architecture, under the limits of the request
    std::vector<Crossover> crossovers;
};

struct HybridPair {
    std::size_t a = 0, b = 0;
    HybridSplit split;
};

/// One model on several architectures, with what follows from it.
struct ArchitectureComparison {
    CompareArchitecturesRequest request;
    std::shared_ptr<const ModelFacts> model;
    std::vector<std::string> labels; ///< one per result, as asked: "GPU"
    std::vector<Result> results;
    std::vector<Result> modes = {};      ///< power modes of devices that miss a limit, in which they do not
    std::vector<TriedChange> tried;      ///< changes that help the best
    std::optional<std::size_t> baseline; ///< absent when nothing could be estimated
    std::vector<std::size_t> detailed;   ///< results that the detailed level shows
    std::vector<std::size_t> compared;   ///< results with an estimate: what `regions` refers to, in order
    std::vector<CommonRegion> regions;   ///< of the subgraph level
    std::vector<HybridPair> hybrids;     ///< of the subgraph level: splits, best first
    std::optional<Explanation> explanation;
    std::optional<Decision> decision;
    std::optional<WhatIf> what_if;
    std::optional<Sensitivity> sensitivity;
    std::optional<BatchSweep> batch_sweep;
};

/// Runs one model on every architecture of the request. One failing device never stops the others: it becomes
/// a row with its reason. Throws InputError for unknown models, devices and stacks, UsageError for names
/// that are not among the architectures.
/// @code
/// const Session session;
/// CompareArchitecturesRequest request;
/// request.model = "resnet18";
/// request.architectures = {"GPU", "TPU"};
/// const ArchitectureComparison comparison = compare_architectures(session, request);
/// assert(comparison.results.size() == 2);
/// @endcode
ArchitectureComparison compare_architectures(const Session& session, CompareArchitecturesRequest request);

// Sections of the compare_architectures report, and the words they share.

/// `explanations`: energy, memory and cost of every architecture, below the rest. HTML: with charts.
Report describe(const ArchitectureComparison& comparison, const Explanations& explanations = {},
                Format format = Format::text);
/// {"schema": "archsim.compare_architectures/1", ...}; unknown values are null.
AnswerDocument document_of(const ArchitectureComparison& comparison, const Explanations& explanations = {});

// The estimates of compare_architectures beside the architectures as they are. A request and its choices go
// in; results come out: of other batches, of changed devices, and of the smallest change that turns a pair
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

/// Fills the flips of an explanation: every lever of either device up to a factor of 100, batches up to 256,
/// every precision. The explanation's pair and its difference are there already.
void find_flips(const Session& session, const ArchitectureComparison& c, Explanation& out);

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
void add_what_if(const ArchitectureComparison& c, Report& report);
void add_sensitivity(const ArchitectureComparison& c, Report& report);
void add_batch_sweep(const ArchitectureComparison& c, Report& report);
/// The effect of a change on each architecture that it is about, before `lines`, which are of all unchanged.
void add_what_if_lines(const ArchitectureComparison& c, std::vector<std::string>& lines);
/// The first lines of a sweep of batches, before `lines`, which are of one batch.
void add_sweep_lines(const ArchitectureComparison& c, std::vector<std::string>& lines);

/// "Why is GPU different from TPU?": the attribution in words, a table that adds up, subgraphs, bottlenecks,
/// flips. The waterfall of the causes is drawn in HTML alone; elsewhere the bars of the table say it.
void add_explanation(const ArchitectureComparison& c, const Explanation& explanation, Format format,
                     Report& report);

/// The verdict of the answer, by the request's metric, under its limits.
VerdictQuestion architecture_verdict(const ArchitectureComparison& c);

Question asked_question(const ArchitectureComparison& c);
/// A command of this tool with the workload of the request and more flags, quoted for a shell.
std::string tool_command(const ArchitectureComparison& c, const std::string& more);
/// For sentences: "GPU (H100)" where the label is a family, else the label.
std::string full_label(const ArchitectureComparison& c, std::size_t index);
/// "TPU (projected)".
std::string marked_label(const ArchitectureComparison& c, std::size_t index);

/// The winner of a region by latency or energy (whatever the request's metric comes down to), and how many
/// times worse the second is (0: no second).
struct RegionWinner {
    std::size_t best = 0; ///< index into ArchitectureComparison::compared: measured, where any was
    double margin = 0;    ///< to the second of those
    std::optional<std::size_t> projected = {}; ///< a projection that would be better, likewise
};
RegionWinner region_winner(const ArchitectureComparison& c, const CommonRegion& region);

/// One row per architecture: units x operations per clock, energy per operation, and shares of the energy
/// without static power. Results must be estimates of one model; those without an estimate keep their row.
Table architecture_differences(std::span<const std::string> labels, std::span<const Result> results);

} // namespace archsim
