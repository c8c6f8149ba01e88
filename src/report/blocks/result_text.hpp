#pragma once
// Words and cells for one result, shared by all reports.

#include "archsim/compare/metric.hpp"
#include "archsim/extend/renderer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// "H100 x4" where four devices work together, else the name.
std::string counted(std::string name, const Result& result);
/// "Jetson-Orin-Nano@15W": the device with its power mode, when it has modes.
std::string hardware_label(const Result& result);
/// Why there is no estimate, as tables for readers show it: "out of memory". Programs read status_text().
std::string status_words(const Estimate& estimate);
/// Of several results; with " under STACK" and " in FORMAT" where rows of one model on one device differ in
/// it.
std::vector<std::string> hardware_labels(std::span<const Result> results, bool with_stacks = true);
/// "GPU".
std::string family_label(const Result& result);
/// Id of the software stack, or the name that was asked for where it does not run.
std::string runtime_label(const Result& result);
/// "fp16", "fp16*" where the device runs something else than was asked for.
std::string precision_label(const Result& result);
/// Name of a format combination: "fp16", "int8", "w4a16".
std::string precision_name(const PrecisionConfig& config);
/// "0.91 (0.74-1.12) ms": a metric of a result with its interval, in the unit of columns.
std::string with_interval(const Metric& metric, const Result& result, const CostOptions& conditions = {});
/// Share of contraction, vector and data-movement operators, for the characteristics block.
std::map<std::string, int> operator_mix(const ModelFacts& model);
/// Parameters, work, sizes, subgraphs and operator mix; subgraphs as the stacks of `results` fuse.
Facts model_facts(const ModelFacts& model, std::span<const Result> results);
/// The engines that multiply in the format that runs: of tiles of several kinds all that do. Empty without an
/// estimate.
std::vector<const Engine*> running_engines(const Result& result);
/// Memory, clocks, units and power limit of the device as run.
Facts device_facts(const Result& result);
/// How much is said.
enum class Detail : std::uint8_t { brief, all };
/// Every metric of the view, utilisation, bottlenecks and memory of one estimate; in brief one line of each,
/// without intervals, layers, money, carbon and what follows from others.
Facts performance_facts(const Result& result, const MetricView& view = {}, Detail detail = Detail::all);

/// "datasheet: NVIDIA A100 datasheet 2020"; "fitted: ... (n = 12, error 8.1 %)"; empty when unknown.
std::string fact_source(const Fact& fact);
/// What follows a source: " (n = 12, error 8.1 %); note", as far as there is any.
std::string fit_text(int n, double error, const std::string& note);
/// Rates of the machine and parameters of its software stack that the estimate used.
Table sources_table(const Result& result);
/// The same in one paragraph, behind a metric of this result; empty for metrics that follow from others.
std::string detail_of(const Result& result, const Metric& metric);

} // namespace archsim
