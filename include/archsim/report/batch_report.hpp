#pragma once
// Throughput, latency, energy and memory against batch, for one or more devices, and the best batch of each.

#include "archsim/compare/batch_analysis.hpp"
#include "archsim/core/export.hpp"
#include "archsim/report/report.hpp"

#include <string>

namespace archsim {

/// What of it is shown.
struct BatchView {
    bool table_only = false; ///< one table, for spreadsheets
};

ARCHSIM_API Report describe(const BatchAnalysis& sweep, const BatchView& view);
/// {"schema": "archsim.analyze_batch/1", "series": [...]}; unknown values are null.
ARCHSIM_API std::string to_json(const BatchAnalysis& sweep);

/// One line per device over batch, logarithmic in batch.
ARCHSIM_API Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric);

} // namespace archsim
