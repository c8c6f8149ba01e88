#pragma once
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "run/compare/percentiles.hpp"

#include <nlohmann/json.hpp>
#include <span>

namespace archsim {

/// P50 to P99.9 of every result, quickest first, with what they rest on. Under a rate: with the queue.
Table percentile_table(std::span<const Result> results, const PercentileRequest& request);
/// The same for programs, in the order of the results.
nlohmann::ordered_json percentile_json(std::span<const Result> results, const PercentileRequest& request);

} // namespace archsim
