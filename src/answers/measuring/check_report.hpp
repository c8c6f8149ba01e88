#pragma once
// How to check an estimate, and what checking it by layers showed.

#include "archsim/extend/renderer.hpp"
#include "measurements/types.hpp"

#include <vector>

namespace archsim {

/// The commands that measure what was estimated, one per device and stack; equal ones once.
Report describe(const std::vector<CheckCommand>& commands);

/// Subgraphs with predicted and measured time and their ratio, the longest measured first, `rows` of them (0:
/// all), and a chart.
Report describe(const LayerProfile& profile, std::size_t rows);

} // namespace archsim
