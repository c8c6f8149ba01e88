#pragma once
// Answers that are no single estimate of a model on a device - points of a design space, runs of a server -
// as rows of a file of results.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_row.hpp"
#include "archsim/core/export.hpp"
#include "archsim/run/serve.hpp"
#include "store/results_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace archsim {

/// Every metric that a file of results may hold: the library's, what a server is measured by, and the errors
/// of predictions.
ARCHSIM_API const MetricTable& saved_metrics();

/// What a served run is measured by, in its order: the row's values are seconds, tokens and requests per
/// second. The question is the model, the load, the engine, how devices share it, and the limits whose
/// highest rate was searched, if any.
ARCHSIM_API SavedResult saved_row(const ServingResult& result, const ServingRequest& request,
                                  const Conditions& conditions = {}, const ServiceLevel& level = {});
/// A point of a design space; the question is the point's factors.
ARCHSIM_API SavedResult saved_row(const SweepRow& row, const SweepRequest& request);

/// Adds a run with these rows to `file`, as save_results() does; `run` of the rows is not looked at.
ARCHSIM_API std::int64_t save_rows(const std::filesystem::path& file, const RunFacts& run,
                                   std::span<const SavedResult> rows);

} // namespace archsim
