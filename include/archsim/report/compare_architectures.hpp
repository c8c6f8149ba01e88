#pragma once
// The answer of compare_architectures as report blocks and as its stable JSON document.

#include "archsim/compare/common_regions.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/compare/explanation.hpp"
#include "archsim/compare/hybrid.hpp"
#include "archsim/compare/objective.hpp"
#include "archsim/core/export.hpp"
#include "archsim/report/explanations.hpp"
#include "archsim/report/report.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class ComparisonLevel : std::uint8_t { summary, detailed, subgraph };
ARCHSIM_API std::string_view name_of(ComparisonLevel level);
ARCHSIM_API std::optional<ComparisonLevel> parse_comparison_level(std::string_view text);

/// What was asked.
struct CompareArchitecturesRequest {
    std::string model;
    std::vector<std::string> architectures; ///< families, FAMILY=DEVICE or devices; empty: the defaults
    ComparisonLevel level = ComparisonLevel::summary;
    std::string architecture;         ///< of the detailed level; empty: all
    std::vector<std::string> explain; ///< two architectures, or none
    Objective metric = Objective::energy;
    std::string baseline; ///< of the "vs" column; empty: the fastest
    std::string precision = "fp32";
    std::int64_t batch_size = 1;
    std::string runtime;
    std::map<std::string, std::int64_t> dims;
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    CostOptions cost;
    Explanations explanations; ///< energy, memory and cost of every architecture, below the rest
    DecisionRequest decision;
    std::vector<std::string> what_if; ///< "bandwidth=2x", "tdp=15W", "batch=8", "GPU:peak=50%"
    bool sensitivity = false;
    std::vector<std::int64_t> batch_sweep;
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

/// Index of a batch of the sweep; absent when none qualifies.
struct BestBatch {
    std::optional<std::size_t> throughput, energy;
};
/// From this batch on `winner` is better than `loser`.
struct Crossover {
    Objective objective{};
    std::size_t winner = 0, loser = 0;
    std::int64_t batch = 0;
};
/// Every architecture over batch sizes.
struct BatchSweep {
    std::vector<std::int64_t> batches;
    std::optional<double> latency_bound_s;
    std::vector<std::vector<Result>> results; ///< per architecture, per batch
    std::vector<BestBatch> best;              ///< per architecture
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

ARCHSIM_API Report describe(const ArchitectureComparison& comparison);
/// {"schema": "archsim.compare_architectures/1", ...}; unknown values are null.
ARCHSIM_API std::string to_json(const ArchitectureComparison& comparison);

} // namespace archsim
