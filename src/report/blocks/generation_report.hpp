#pragma once
// Report blocks for language models and for models made of parts.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace archsim {

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

} // namespace archsim
