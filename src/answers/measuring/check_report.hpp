#pragma once
// How to check an estimate, and what checking it by layers showed.

#include "archsim/core/export.hpp"
#include "archsim/extend/renderer.hpp"
#include "measurements/types.hpp"

#include <vector>

namespace archsim {

/// The commands that measure what was estimated, one per device and stack; equal ones once.
ARCHSIM_API Report describe(const std::vector<CheckCommand>& commands);

/// Subgraphs with predicted and measured time and their ratio, the longest measured first, `rows` of them (0:
/// all), and a chart.
ARCHSIM_API Report describe(const LayerProfile& profile, std::size_t rows);

} // namespace archsim
