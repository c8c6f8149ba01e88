#pragma once
// Throughput, latency, energy and memory against batch, for one or more devices, and the best batch of each.

#include "answers/batch/batch_analysis.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

Report describe(const BatchAnalysis& sweep, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.analyze_batch/1", "series": [...]}; unknown values are null.
std::string to_json(const BatchAnalysis& sweep, PlainView view = {});

/// One line per device over batch, logarithmic in batch.
Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric);

} // namespace archsim
