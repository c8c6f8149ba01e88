#pragma once
// Results side by side: their ranking, limits and choices, advice, answers to prompts, charts.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"
#include "result/ranking.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// One row per result, best first by `by`, for people: results of one model at one batch size. Columns are
/// the metrics of the view as far as any result has them. `top` rows; 0: all.
Table ranking_table(std::span<const Result> results, const Metric& by, const MetricView& view, int top = 0);

// Limits and choices in words: `--max-latency`, `--min-throughput`, ..., `--pareto`.

/// A verdict with its headroom per result and limit, the Pareto front, and the recommendation, or what is
/// nearest when nothing qualifies. `labels` name the results.
std::vector<Block> decision_blocks(const Decision& decision, std::span<const Result> results,
                                   const std::vector<std::string>& labels);

struct LabelledDecision {
    const Decision* decision = nullptr;
    std::vector<std::string> labels;
};

/// {"constraints": [...], "verdicts": [...], "recommended", "tied", "nearest"}.
Members<LabelledDecision> decision_members();

// The bound of each device, and the changes that were tried and help it.
//
//   What would help, tried:
//     * H100: --precision fp8, 1.62x; --runtime vllm, 1.1x

/// A change that would help one result.
struct Advice {
    std::size_t result = 0;
    std::string text;
    std::vector<std::string> asked = {}; ///< TriedChange::asked of each change in it
};
/// A change as fields of a question, for fronts without a command line. Worked: "--precision fp8 --batch-size
/// 8" is {"precision", "fp8"} and {"batch", "8"}.
std::vector<std::pair<std::string, std::string>> fields_of(std::string_view asked);

/// "H100 is bound by starting kernels and layers, 61 % of its time"; of a network in which one operator that
/// is no product takes most of the time its name and both times: "QRB5165 spends 99 % of its time in
/// NonMaxSuppression, at the upper bound of its output; the rest takes 9.05 ms". Empty where the time has no
/// parts.
std::string bound_sentence(const Result& result, const std::string& label);

/// One piece of advice per result for which a change was found; then measurements that would narrow an
/// interval.
std::vector<Advice> advice_for(std::span<const TriedChange> tried, std::span<const Result> results);

/// A heading and a bullet for each; nothing where there is none.
std::vector<Block> advice_blocks(std::span<const TriedChange> tried, std::span<const Result> results,
                                 const std::vector<std::string>& labels);

/// A heading "Next steps:" and the commands; nothing where there are none.
std::vector<Block> command_blocks(const std::vector<std::string>& commands);

// Report blocks for language models and for models made of parts.

/// Whether what a ranking shows of language models, times and energy of tokens, stands in a table beside it.
enum class BesideRanking : std::uint8_t { no, yes };
/// Time to first token, time per token, memory and energy of every result that has a prompt, in the order
/// given; how the columns are defined stands under the table. Beside a ranking only what that does not show.
Table generation_table(std::span<const Result> results, BesideRanking beside = BesideRanking::no,
                       std::optional<PowerBoundary> power_at = {});
/// How the numbers of answers are defined, each for the column that has its key.
std::vector<TableNote> generation_notes(std::span<const Result> results);
/// Every part and the total of one result.
Table parts_table(const Result& result, const CostOptions& conditions = {});

/// Generated text; where its result has no estimate, what was planned.
struct ShownGeneration {
    GenerationEstimate estimate;
    bool ok = false;
};
/// {"prompt_tokens", ..., "time_to_first_token_s", ...}; what was not estimated is null.
Members<ShownGeneration> generation_members();
/// {"name", "repeat", "model", "status", "latency_s", ...}
Members<ResultPart> part_members(const CostOptions& conditions);

// Charts that set devices side by side.

/// Every subgraph of every result as a point under the roofs of its device; estimates only.
Chart roofline_chart(std::span<const Result> results);
/// Live activation bytes at every step of the schedule.
Chart memory_chart(const Result& result);

/// One metric over another with their 90 % intervals, one series per family, and the Pareto front of both.
Chart tradeoff_chart(std::span<const Result> results, const Metric& x = metric::latency,
                     const Metric& y = metric::energy, const CostOptions& conditions = {});
/// Energy by event of each result, one stacked bar per device.
Chart energy_chart(std::span<const Result> results);
/// Latency of every common region of the graph on every device. Results must be estimates of one model.
Chart region_heat_map(std::span<const Result> results);

/// The three above, the roofline of all devices and the memory timeline of the first estimate; as many as the
/// results allow.
std::vector<Block> comparison_charts(std::span<const Result> results);

} // namespace archsim
