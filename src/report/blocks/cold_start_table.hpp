#pragma once
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "estimate/cold_start.hpp"

#include <optional>
#include <span>

namespace archsim {

/// Nothing where the result has no estimate.
std::optional<ColdStart> cold_start_of(const Result& result);
/// First inference against warm ones, quickest first.
Table cold_start_table(std::span<const Result> results);

} // namespace archsim
