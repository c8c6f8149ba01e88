#pragma once
// Throughput, latency, energy and memory against batch, for one or more devices, and the best batch of each.

#include "answers/batch/analyze_batch.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <string>
#include <vector>

namespace archsim {

/// The best batches of every device, which `labels` names in the order of the series.
Facts best_batch_facts(const BatchAnalysis& analysis, const std::vector<std::string>& labels);
/// One line per device: the batch that is good enough, the one that does most, the one that answers first.
std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels);
/// One device of an analysis: {"best_batch": {"throughput": 64, "latency": 1, "energy": 64, "knee": 32},
/// "points": [...]}; a best batch is null where none keeps the limits. `points`: their key.
Members<BatchSeries> batch_series_members(const MetricView& view, const std::string& points);
/// "Best batch", "Best batch that keeps the limits".
std::string best_batch_heading(const BatchAnalysis& analysis);

Report describe(const BatchAnalysis& sweep, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.analyze_batch/1", "series": [...]}; unknown values are null.
std::string to_json(const BatchAnalysis& sweep, PlainView view = {});

/// One line per device over batch, logarithmic in batch.
Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric);

} // namespace archsim
