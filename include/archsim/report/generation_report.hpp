#pragma once
// Report blocks for language models and for models made of parts.

#include "archsim/compare/result.hpp"
#include "archsim/report/report.hpp"

#include <span>

namespace archsim {

/// Time to first token, time per token, memory and energy of every result that has a prompt; in the order
/// given.
ARCHSIM_API Table generation_table(std::span<const Result> results);
/// How the columns are defined, for readers of the report.
ARCHSIM_API Paragraph generation_definitions(const GenerationEstimate& generation);
/// Every part and the total of one result.
ARCHSIM_API Table parts_table(const Result& result);

} // namespace archsim
