#pragma once
// Answers that are no single estimate of a model on a device, such as runs of a server, as rows of a file of
// results.

#include "archsim/run/serve.hpp"
#include "store/results_file.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Every metric that a file of results may hold: the library's, what a server is measured by, and the errors
/// of predictions.
const MetricTable& saved_metrics();

/// What a served run is measured by, in its order: the row's values are seconds, tokens and requests per
/// second. The question is the model, the load, the engine, how devices share it, and the limits whose
/// highest rate was searched, if any.
SavedResult saved_row(const ServingResult& result, const ServingRequest& request,
                      const Conditions& conditions = {}, const ServiceLevel& level = {});
/// The fields of a question that such a row has columns for.
inline constexpr std::array<std::string_view, 9> kSavedColumns = {
    "runtime", "batch_size",    "precision",       "kv_cache", "scenario",
    "scope",   "prompt_tokens", "generate_tokens", "devices"};
/// Fills in "Jetson-Orin-Nano@15W" as its two parts.
void name_device(const std::string& asked, CellKey& key);

/// Adds a run with these rows to `file`, as save_results() does; `run` of the rows is not looked at.
std::int64_t save_rows(const std::filesystem::path& file, const RunFacts& run,
                       std::span<const SavedResult> rows);

} // namespace archsim
