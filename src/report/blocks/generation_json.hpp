#pragma once
// Generation and parts in the documents of results.

#include "archsim/compare/result.hpp"
#include "fields/json_members.hpp"

namespace archsim {

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
