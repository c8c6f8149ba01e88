#pragma once
// Words and cells for one result, shared by all reports.

#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "report/blocks/columns.hpp"
#include "result/ranking.hpp"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// "H100 x4" where four devices work together, else the name.
std::string counted(std::string name, const Result& result);
/// "Jetson-Orin-Nano@15W": the device with its power mode, when it has modes.
std::string hardware_label(const Result& result);
/// Why there is no estimate, as tables for readers show it: "out of memory". Programs read status_text().
std::string status_words(const Estimate& estimate);
/// Labels of several results; with " under STACK" and " in FORMAT" where rows of one model on one device
/// differ in it.
std::vector<std::string> hardware_labels(std::span<const Result> results, bool with_stacks = true);
/// "GPU".
std::string family_label(const Result& result);
/// Id of the software stack, or the name that was asked for where it does not run.
std::string runtime_label(const Result& result);
/// "fp16", "fp16*" where the device runs something else than was asked for.
std::string precision_label(const Result& result);
/// Name of a format combination: "fp16", "int8", "w4a16".
std::string precision_name(const PrecisionConfig& config);
/// "0.91 (0.74-1.12) ms": a metric of a result with its interval, in the unit of columns.
std::string with_interval(const Metric& metric, const Result& result, const CostOptions& conditions = {});
/// Share of contraction, vector and data-movement operators, for the characteristics block.
std::map<std::string, int> operator_mix(const ModelFacts& model);
/// Parameters, work, sizes, subgraphs and operator mix; subgraphs as the stacks of `results` fuse.
Facts model_facts(const ModelFacts& model, std::span<const Result> results);
/// The engines that multiply in the format that runs: of tiles of several kinds all that do. Empty without an
/// estimate.
std::vector<const Engine*> running_engines(const Result& result);
/// Memory, clocks, units and power limit of the device as run.
Facts device_facts(const Result& result);
/// How much is said.
enum class Detail : std::uint8_t { brief, all };
/// Every metric of the view, utilisation, bottlenecks and memory of one estimate; in brief one line of each,
/// without intervals, layers, money, carbon and what follows from others.
Facts performance_facts(const Result& result, const MetricView& view = {}, Detail detail = Detail::all);

/// "datasheet: NVIDIA A100 datasheet 2020"; "fitted: ... (n = 12, error 8.1 %)"; empty when unknown.
std::string fact_source(const Fact& fact);
/// The words behind a source: " (n = 12, error 8.1 %); note", as far as there is any.
std::string fit_text(int n, double error, const std::string& note);
/// Rates of the machine and parameters of its software stack that the estimate used.
Table sources_table(const Result& result);
/// The same in one paragraph, behind a metric of this result; empty for metrics that follow from others.
std::string detail_of(const Result& result, const Metric& metric);

// Signs beside a result in a table, and the note that explains each. A row of the table in row_marks.cpp is
// all that a new sign needs.

/// Where a sign stands.
enum class MarkedCell : std::uint8_t { none, hardware, precision };

/// A sign that some results carry.
struct RowMark {
    std::string_view sign; ///< "*"; empty: a note alone
    MarkedCell cell = MarkedCell::none;
    bool in_brackets = false; ///< its rank is in brackets: "(2)"
    /// The note under the table, after "SIGN NAME: "; empty where the result does not carry the sign.
    std::string (*note)(const Result& result);
    bool names_results = true; ///< false: the note holds for all that carry the sign, and names none
};

/// `text` with the signs that the result carries in that cell.
std::string marked(std::string text, MarkedCell cell, const Result& result);
/// "3", "3=" where tied, "(3)" where a mark says so.
std::string rank_text(const Rank& rank, const Result& result);
/// A value with the signs of its result: "(8.99)" of a projection, "11.6*" in another format than was asked
/// for.
std::string marked_value(std::string text, const Result& result);
/// Notes of the results of a table, equal ones once with all the names.
using MarkNotes = std::map<std::pair<std::size_t, std::string>, std::vector<std::string>>;
/// Adds the notes of a result, which the table calls `name`.
void add_mark_notes(const Result& result, const std::string& name, MarkNotes& notes);
/// "* A100, H100: asked fp32, ...", each of the column whose cells carry the sign.
std::vector<TableNote> lines_of(const MarkNotes& notes);
/// The same for a table of values, whose signs stand beside these, each name once.
std::vector<TableNote> value_lines_of(MarkNotes notes);
/// The same for a table without ranks: what brackets around a rank say names the results there.
std::vector<TableNote> unranked_lines_of(const MarkNotes& notes);

/// "A100, H100: needs 141 GB, the device has 80.0 GB"; results with an estimate are passed over. With a
/// model's name, "bert on A100, H100: ...", and "bert: ..." where every result has the same reason.
std::vector<std::string> failure_notes(const std::vector<const Result*>& results,
                                       const std::string& model = {});

/// "Coral-Edge-TPU: refuted: detectors were measured 2 to 4 times slower ...": of each device whose estimates
/// may not lead, once.
std::vector<std::string> doubt_lines(std::span<const Result> results);

// The faults of device files of one's own, beside the estimates made from them:
//
//   Warning: nano2.json: no power mode runs all 16 units, the largest runs 8: more units change nothing (one
//   of 6 findings; list_hardware_mappers --check nano2.json).

/// One sentence per device file with findings, in the order of the results; empty: all files are sound.
std::vector<std::string> device_warnings(std::span<const Result> results);

// The standing of an estimate, as the column and the key of every answer's rows: worded here alone.

inline constexpr const char* kEvidenceMeans =
    "measured: this chip with such networks under this stack; related: others of its generation, or other "
    "networks; projected, refuted, incomplete: not ranked";

/// "related"; empty without an estimate.
inline std::string_view evidence_text(std::optional<Standing> standing) {
    return standing ? name_of(*standing) : std::string_view();
}
/// Absent without an estimate.
inline std::optional<Standing> evidence_of(const Result& result) {
    return result.ok() ? std::optional(standing_of(result.estimate)) : std::nullopt;
}
inline std::optional<Standing> evidence_of(bool estimated, const Doubt& doubt) {
    return estimated ? std::optional(doubt.standing) : std::nullopt;
}

/// The refutation of an estimate, with how many rows say so; empty where nothing does.
inline std::string refuted_text(const Estimate& estimate) {
    return estimate.refuted_rows.empty() ? estimate.refuted
                                         : fmt::format("{} ({})", estimate.refuted, estimate.refuted_rows);
}

/// `standing` gives what evidence_text() takes of a row.
template <class Row, class Of>
ColumnOf<Row> evidence_column(Of standing, int priority = 2) {
    return {{"Basis", "", "evidence", Align::left, priority}, [standing](const Row& row) {
                const std::optional<Standing> of_row = std::invoke(standing, row);
                return Cell{std::string(evidence_text(of_row)),
                            {},
                            of_row && !leads(*of_row) ? Tone::muted : Tone::plain};
            }};
}
template <class Row, class Of>
Member<Row> evidence_member(Of standing) {
    return {"evidence", kEvidenceMeans, [standing](const Row& row) -> std::optional<std::string_view> {
                const std::optional<Standing> of_row = std::invoke(standing, row);
                return of_row ? std::optional(name_of(*of_row)) : std::nullopt;
            }};
}

} // namespace archsim
