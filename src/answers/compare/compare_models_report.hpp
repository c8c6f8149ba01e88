#pragma once
// The answer of compare_models goes in; report blocks and its stable JSON document come out.

#include "answers/compare/duty_cycle.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/verdict.hpp"
#include "result/latency_spread.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

// Percentiles of an inference's latency: run to run, and under an arrival rate with the wait in the queue.

/// The load under which percentiles are asked for.
struct PercentileRequest {
    double rate_per_s = 0;         ///< items that arrive, Poisson; 0: one query after the other
    std::int64_t requests = 50000; ///< simulated: fifty lie beyond P99.9
    std::uint64_t seed = 1;
    /// The spread of runs: Session::spread_rows(). Null: those of data_dir().
    std::shared_ptr<const std::vector<SpreadRow>> rows;
};

/// A queue before the device: items wait until it is free, and up to a batch of those that wait run together.
struct QueuedPercentiles {
    RunPercentiles latency;    ///< from arrival to end, in seconds; zeros when overloaded
    double mean_wait_s = 0;    ///< before the batch begins
    double utilization = 0;    ///< busy part of the time
    double capacity_per_s = 0; ///< items per second that the device completes when the queue never empties
    bool overloaded = false;   ///< the rate is above it: the queue grows without bound
};

/// Percentiles of one result.
struct ResultPercentiles {
    LatencySpread spread;
    RunPercentiles run_to_run;
    std::optional<QueuedPercentiles> queued; ///< with a rate
};

/// The estimate is taken as the median. A batch takes the time of the full one, whoever is in it. Nothing
/// where the result has no estimate. Throws UsageError for a rate that is negative or not finite.
std::optional<ResultPercentiles> percentiles(const Result& result, const PercentileRequest& request = {});

struct CompareModelsView {
    bool verbose = false;
    bool cold_start = false;                      ///< the first inference too
    std::optional<PercentileRequest> percentiles; ///< of every latency, under this load
    std::vector<Result> slices;                   ///< on_slices(), where networks share devices
    Explanations explanations;
    int top = 0; ///< rows of the ranking; 0: all
    /// Behind those of the best device, in place of the ranking and of what to ask next: the only device.
    std::vector<Block> details;
    const MetricTable* metrics = &MetricTable::standard();
    const Metric* sort_by = nullptr; ///< what ranks; null: what the scenario asks for

    /// The metrics shown, under the conditions of `explanations`.
    MetricView metric_view() const { return {metrics, explanations.conditions}; }
};

/// CSV: one flat table, a row per result; explanations follow as tables of their own. HTML: with charts.
Report describe(const ModelComparison& comparison, const CompareModelsView& view = {},
                Format format = Format::text);
/// One flat table with a row per subgraph of every estimate.
Report tabulate_subgraphs(const ModelComparison& comparison);
/// {"schema": "archsim.compare_models/1", ...}; unknown values are null.
std::string to_json(const ModelComparison& comparison, const CompareModelsView& view = {});

// The tables of a comparison of models: its ranking, its percentiles and its subgraphs, the same in every
// format.

/// The results of one model.
std::span<const Result> results_of(const ModelComparison& comparison, std::size_t model);
/// The metric asked for; else tokens per second where every result answers a prompt, else what the scenario
/// asks for.
const Metric& order_of(const ModelComparison& comparison, std::span<const Result> results,
                       const CompareModelsView& view);

/// The parts of a comparison that are of one model: modes, what was tried, what is too large. Empty where
/// that is not to be said.
template <class T>
std::span<const T> of_model(const std::vector<std::vector<T>>& kept, std::size_t model) {
    return model < kept.size() ? std::span<const T>(kept[model]) : std::span<const T>();
}
/// "fp32", "fp16, int8", "usual": the formats as they were asked for.
std::string asked_formats(const ModelComparison& comparison);
/// The question asked of every device; of models with formats of their own that of none of them.
Question asked_question(const ModelComparison& comparison);

/// What the report says first of a model, with what was asked beside the ranking.
VerdictRecord verdict_of(const ModelComparison& comparison, std::size_t model, const CompareModelsView& view);

/// Commands that take the answer further: the mapping on the best device, why it beats the second, batches,
/// load. Each can be pasted.
std::vector<std::string> next_commands(const ModelComparison& comparison, std::size_t model, const Metric& by,
                                       const CostOptions& conditions);

/// For spreadsheets: one row per subgraph of every estimate, every column named after its SI unit.
Table all_subgraphs_table(std::span<const Result> results);

/// P50 to P99.9 of every result, quickest first, with what they rest on. Under a rate: with the queue.
Table percentile_table(std::span<const Result> results, const PercentileRequest& request);

/// Percentiles of one result, under a load.
struct ShownPercentiles {
    const Result* result = nullptr;
    ResultPercentiles found;
    double rate_per_s = 0;
};
/// Percentiles of every result that has an estimate, in order.
std::vector<ShownPercentiles> shown_percentiles(std::span<const Result> results,
                                                const PercentileRequest& request);
Members<ShownPercentiles> percentile_members();

} // namespace archsim
