#pragma once
// One model on several architectures. A request that names the model, its sizes and the architectures goes
// in; a result for each, which is best, why two of them differ, and what would turn their ranking around come
// out.

#include "answers/architectures/explanation.hpp"
#include "answers/batch/analyze_batch.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/compare/metric.hpp"
#include "archsim/run/session.hpp"
#include "result/common_regions.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class ComparisonLevel : std::uint8_t { summary, detailed, subgraph };
std::string_view name_of(ComparisonLevel level);
std::optional<ComparisonLevel> parse_comparison_level(std::string_view text);

/// What is asked, and what runs.
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
/// What the comparison's metric makes of each assumed input.
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

/// Two results and their best split.
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

} // namespace archsim
