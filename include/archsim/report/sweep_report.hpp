#pragma once
// Rows of a sweep as CSV or NDJSON, one by one, and what a sweep concludes as a report.

#include "archsim/compare/sweep_row.hpp"
#include "archsim/core/export.hpp"
#include "archsim/report/report.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

enum class RowFormat : std::uint8_t { csv, ndjson };
ARCHSIM_API std::optional<RowFormat> parse_row_format(std::string_view name); ///< "csv", "ndjson"
/// From a file name: .csv, .ndjson, .jsonl.
ARCHSIM_API std::optional<RowFormat> row_format_of_file(std::string_view file);

/// The first line of a CSV file, with its line end; empty for NDJSON, whose rows name their values.
ARCHSIM_API std::string sweep_header(const std::vector<SweepAxis>& axes, RowFormat format,
                                     const MetricTable& metrics = MetricTable::standard());
/// Appends one line per row. Values are SI; what a row does not have is empty (CSV) or null (NDJSON). The
/// rows hold the metrics of `metrics`.
ARCHSIM_API void append_rows(std::span<const SweepRow> rows, const std::vector<SweepAxis>& axes,
                             RowFormat format, std::string& text,
                             const MetricTable& metrics = MetricTable::standard());

/// What a sweep concludes.
struct SweepSummary {
    std::uint64_t points = 0, estimated = 0; ///< of this shard; those with an estimate
    std::optional<ParetoFront> front;
    const Metric* sensitivity_of = nullptr; ///< null: not asked for
    std::vector<AxisSensitivity> sensitivities;
    std::vector<SweepAxis> axes;
};
ARCHSIM_API Report describe(const SweepSummary& summary);

} // namespace archsim
