#pragma once
// Report blocks for language models and for models made of parts.

#include "archsim/compare/result.hpp"
#include "archsim/report/report.hpp"

#include <span>

namespace archsim {

/// Time to first token, time per token, memory and energy of every result that has a prompt, in the order
/// given; how the columns are defined stands under the table.
ARCHSIM_API Table generation_table(std::span<const Result> results);
/// Every part and the total of one result.
ARCHSIM_API Table parts_table(const Result& result);

} // namespace archsim
