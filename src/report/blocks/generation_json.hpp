#pragma once
// Generation and parts in the JSON of results. Private: nlohmann stays out of public headers.

#include "archsim/compare/result.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// {"prompt_tokens", ..., "time_to_first_token_s", ...}; what was not estimated is null.
nlohmann::ordered_json generation_json(const GenerationEstimate& generation, bool ok);
/// [{"name", "repeat", "model", "status", "latency_s", ...}]
nlohmann::ordered_json parts_json(const Result& result);

} // namespace archsim
