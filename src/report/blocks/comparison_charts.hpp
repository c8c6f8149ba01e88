#pragma once
// Charts that set devices side by side.

#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <span>
#include <vector>

namespace archsim {

/// Every subgraph of every result as a point under the roofs of its device; estimates only.
Chart roofline_chart(std::span<const Result> results);
/// Live activation bytes at every step of the schedule.
Chart memory_chart(const Result& result);

/// One metric over another with their 90 % intervals, one series per family, and the Pareto front of both.
Chart tradeoff_chart(std::span<const Result> results, const Metric& x = metric::latency,
                     const Metric& y = metric::energy, const CostOptions& conditions = {});
/// Energy by event of each result, one stacked bar per device.
Chart energy_chart(std::span<const Result> results);
/// Latency of every common region of the graph on every device. Results must be estimates of one model.
Chart region_heat_map(std::span<const Result> results);

/// The three above, the roofline of all devices and the memory timeline of the first estimate; as many as the
/// results allow.
std::vector<Block> comparison_charts(std::span<const Result> results);

} // namespace archsim
