#pragma once
// A file of results (SQLite): runs of tools, each with what was estimated of which model on which device
// under which conditions. It opens in anything that reads SQLite (Datasette, DuckDB, pandas); docs/history.md
// has its tables.

#include "archsim/compare/metric.hpp"
#include "archsim/run/serve.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

struct RunFacts {
    std::string tool;    ///< "compare_models"
    std::string command; ///< the line as given
};

/// An answer and the batch that was asked for, which a result without an estimate does not know. The rest of
/// its question is Result::workload and Result::conditions.
struct AskedResult {
    const Result* result = nullptr;
    std::int64_t batch_size = 1;
};

/// Adds a run with its results to `file`, which is made where there is none, and returns the run's number.
/// The run is there as a whole or not at all: whoever writes at the same time waits (30 s at most), and a
/// process that ends in between leaves the file as it was. Throws InputError for a file that cannot be
/// written or holds no results.
/// @code
/// const Session session;
/// const Result result = session.estimate({.model = session.load("resnet18")}, "A100");
/// std::filesystem::remove("results.db");
/// const AskedResult asked{&result, 1};
/// const std::int64_t run = save_results("results.db", {"my_program", "my_program resnet18"}, {&asked, 1});
/// assert(saved_runs("results.db").back().id == run);
/// @endcode
std::int64_t save_results(const std::filesystem::path& file, const RunFacts& run,
                          std::span<const AskedResult> results, const MetricView& view = {});

/// A run in a file.
struct SavedRun {
    std::int64_t id = 0;
    std::string started; ///< UTC, "2026-11-22T10:00:00Z"
    std::string tool, command, version;
    std::int64_t results = 0;
};

/// Tells one question from another: results with the same key, in any run, answer the same one.
struct CellKey {
    std::string model, dims; ///< dims: its sizes as a JSON object, without the batch
    std::string hardware, power_mode, runtime, precision, kv_cache, scenario, scope;
    std::int64_t batch_size = 1, prompt_tokens = 0, generate_tokens = 0; ///< tokens 0: a single pass
    double devices = 1;
    /// Every other field that was stated, as a JSON object by its key: {"context":4096,"sampling":"top-p"}.
    /// Of results that versions before it saved: what they did not write counts as not stated, and where
    /// their command line names such a field this is {"unrecorded":true}.
    std::string question = "{}";

    /// By every member, in order.
    auto operator<=>(const CellKey&) const = default;
};

/// One answer in a file.
struct SavedResult {
    std::int64_t run = 0;
    CellKey key;
    std::string family, executed_precision, status, reason;
    std::map<std::string, Measure> metrics; ///< by the metric's key
};

/// Runs in the order in which they were saved. Throws InputError for a file that holds no results.
std::vector<SavedRun> saved_runs(const std::filesystem::path& file);
/// Every result, run by run.
std::vector<SavedResult> saved_results(const std::filesystem::path& file);

// Answers that are no single estimate of a model on a device, such as runs of a server, as rows of a file of
// results.

/// Every metric that a file of results may hold: the library's, what a server is measured by, and the errors
/// of predictions.
const MetricTable& saved_metrics();

/// The metrics of a served run, in their order: the row's values are seconds, tokens and requests per second.
/// The question is the model, the load, the engine, how devices share it, and the limits whose highest rate
/// was searched, if any.
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
