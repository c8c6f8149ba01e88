#pragma once
// What reports on several batch sizes share.

#include "archsim/extend/renderer.hpp"
#include "compare/batch_analysis.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

/// The best batches of every device, which `labels` names in the order of the series.
Facts best_batch_facts(const BatchAnalysis& analysis, const std::vector<std::string>& labels);
/// One line per device: the batch that is good enough, the one that does most, the one that answers first.
std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels);
/// {"throughput": 64, "latency": 1, "energy": 64, "knee": 32}; null where no batch keeps the limits.
nlohmann::ordered_json best_batch_json(const BatchSeries& series);
/// The rows of the points of one device.
nlohmann::ordered_json batch_points_json(const BatchAnalysis& analysis, const BatchSeries& series);
/// "Best batch", "Best batch that keeps the limits".
std::string best_batch_heading(const BatchAnalysis& analysis);

} // namespace archsim
