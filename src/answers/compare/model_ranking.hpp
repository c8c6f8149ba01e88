#pragma once
// The tables of a comparison of models: its ranking, its percentiles and its subgraphs, the same in every
// format.

#include "answers/compare/compare_models_report.hpp"
#include "answers/compare/percentiles.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"
#include "fields/question.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// The results of one model.
std::span<const Result> results_of(const ModelComparison& comparison, std::size_t model);
/// The metric asked for; else tokens per second where every result answers a prompt, else what the scenario
/// asks for.
const Metric& order_of(const ModelComparison& comparison, std::span<const Result> results,
                       const CompareModelsView& view);

/// What a comparison keeps of a model: modes, what was tried, what is too large. Empty where that is not to
/// be said.
template <class T>
std::span<const T> of_model(const std::vector<std::vector<T>>& kept, std::size_t model) {
    return model < kept.size() ? std::span<const T>(kept[model]) : std::span<const T>();
}
/// "fp32", "fp16, int8", "usual": the formats as they were asked for.
std::string asked_formats(const ModelComparison& comparison);
/// What was asked of every device; of models with formats of their own that of none of them.
Question asked_question(const ModelComparison& comparison);

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
