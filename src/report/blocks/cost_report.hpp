#pragma once
// Money and carbon of estimates: `--cost`.

#include "archsim/compare/cost.hpp"
#include "archsim/extend/renderer.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Its prices with their dates, given ones first; "no published price" where there is none.
std::string price_text(const Result& result, const CostOptions& options);

/// A table of $ per million inferences (rented; owned: purchase and electricity) and g CO2e per thousand, the
/// prices with their dates, the break-even volumes between the devices, and the assumptions with their
/// sources.
std::vector<Block> cost_blocks(std::span<const Result> results, const CostOptions& options);
/// One line: g CO2e per thousand inferences on every device.
std::vector<Block> carbon_blocks(std::span<const Result> results, const CostOptions& options);
/// The same numbers as a JSON object: {"assumptions": {...}, "results": [...], "break_even": [...]}.
std::string cost_to_json(std::span<const Result> results, const CostOptions& options);

} // namespace archsim
