#pragma once
// Rows of a sweep as CSV or NDJSON, one by one, and what a sweep concludes as a report.

#include "archsim/compare/best_rows.hpp"
#include "archsim/compare/sweep_row.hpp"
#include "archsim/core/export.hpp"
#include "archsim/report/report.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

enum class RowFormat : std::uint8_t { csv, ndjson };
ARCHSIM_API std::optional<RowFormat> parse_row_format(std::string_view name); ///< "csv", "ndjson"

/// The first line of a CSV file, with its line end; empty for NDJSON, whose rows name their values.
ARCHSIM_API std::string sweep_header(const std::vector<SweepAxis>& axes, RowFormat format,
                                     const MetricTable& metrics = MetricTable::standard());
/// Appends one line per row. Values are SI; what a row does not have is empty (CSV) or null (NDJSON). The
/// rows hold the metrics of `metrics`.
ARCHSIM_API void append_rows(std::span<const SweepRow> rows, const std::vector<SweepAxis>& axes,
                             RowFormat format, std::string& text,
                             const MetricTable& metrics = MetricTable::standard());

/// What a sweep concludes; fed one row at a time, in the order of the points.
struct ARCHSIM_API SweepSummary {
    /// Of `all` points, of which `top` per model are listed by `ranks`, one of `metrics`; 0: every one.
    explicit SweepSummary(std::vector<SweepAxis> parts = {}, const Metric& ranks = metric::latency,
                          std::size_t top = kListed, std::uint64_t all = 0,
                          const MetricTable& metrics = MetricTable::standard());
    /// Counts a row, ranks it, and keeps it for the charts where it is one of the evenly spread.
    void add(const SweepRow& row);
    /// Counts a row and does nothing else: enough where the summary is not shown.
    void count(const SweepRow& row);

    std::uint64_t points = 0, estimated = 0; ///< of this shard; those with an estimate
    std::uint64_t incomplete = 0;            ///< those of which a part of the model is not known
    BestRows best;                           ///< the rows that are listed
    /// The best row of each model by the ranking metric, speed and energy: of those that measurements stand
    /// behind, and of projections, which win nothing.
    std::vector<BestRows> winners, projected_winners;
    /// The formats that devices multiply in, and on which devices.
    std::map<std::string, std::vector<std::string>> formats;
    std::string default_format;       ///< where none was asked for; else empty
    std::vector<const Metric*> shown; ///< columns of the rows beside the one that ranks
    std::optional<ParetoFront> front;
    const Metric* sensitivity_of = nullptr; ///< null: not asked for
    std::vector<AxisSensitivity> sensitivities;
    /// Why points have no estimate: "H100: needs 141.2 GB, ...", the first few.
    std::vector<std::string> reasons;
    std::vector<SweepAxis> axes;
    std::vector<SweepRow> sample; ///< evenly spread over the points, for charts
    std::uint64_t stride = 1;     ///< between two of them

    static constexpr std::size_t kListed = 10, kReasons = 3;
};
/// The verdict, the best points, and what else was asked for. CSV: the best points; HTML: with charts.
ARCHSIM_API Report describe(const SweepSummary& summary, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.sweep_design_space/1", "verdict": {...}, "best": [...], "pareto": [...], ...}.
ARCHSIM_API std::string to_json(const SweepSummary& summary, PlainView view = {});

} // namespace archsim
