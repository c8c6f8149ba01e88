#pragma once
// Metrics in words, cells, columns and charts: what a metric's row of the table says about its looks,
// applied.

#include "archsim/compare/metric.hpp"
#include "archsim/extend/renderer.hpp"
#include "report/blocks/columns.hpp"

#include <span>
#include <string>

namespace archsim {

/// "15.4 mJ", "431 us", "2317 /s", "$0.12 per million" for a value in the metric's SI unit.
std::string format_value(const Metric& metric, double value);
/// The same as a cell, unknown where there is no value.
inline Cell value_cell(const Metric& metric, const std::optional<double>& value) {
    return value ? Cell{format_value(metric, *value), *value} : Cell{};
}
/// "220 to 641 µs": both ends as format_value() writes them, their unit once where it is the same.
std::string range_text(const Metric& metric, const Interval& interval);
/// The number alone, in the unit of columns: "15.4".
std::string column_number(const Metric& metric, double value);
/// The metric, in joules instead of millijoules where every value is one joule or more; likewise energy-delay
/// products in J s instead of mJ ms.
const Metric& readable(const Metric& metric, std::span<const Result> results, const CostOptions& conditions);
/// True where another metric says the same: inferences per second and watt of inferences that take joules
/// (0.0002 FPS/W says less than the energy beside it), tokens per second in total of one sequence.
bool said_by_another(const Metric& metric, std::span<const Result> results, const CostOptions& conditions);
/// The metric's column: heading, unit, key and priority of its row.
Column column_of(const Metric& metric);
/// A value in that column; unknown where there is none.
Cell cell_of(const Metric& metric, const std::optional<Measure>& measure);
/// "0.74-1.12": its interval in the same unit.
Cell interval_cell_of(const Metric& metric, const std::optional<Measure>& measure);
/// The column of a metric's interval, of what `measure` gives of a row.
template <class Row, class Get>
ColumnOf<Row> interval_column_of(const Metric& metric, int priority, Get measure) {
    return {interval_column("90 %", metric.column_unit, metric.low_field, metric.high_field, priority,
                            column_of(metric).best),
            [&metric, measure](const Row& row) { return interval_cell_of(metric, measure(row)); }};
}
/// "Fastest"; "Best by ..." of metrics without a word of their own.
std::string best_words(const Metric& metric);
/// Unit of axes: "mJ".
const std::string& axis_unit_of(const Metric& metric);
bool any_value(std::span<const Result> results, const Metric& metric, const CostOptions& conditions);
/// A value's ratio to another as a verb: "is 1.45x slower than", "has 13 % less energy per inference than",
/// "has 2.65x the average power of", "has the same latency as".
std::string ratio_text(const Metric& metric, double ratio);
/// "1.28x", of a ratio of two values.
std::string format_ratio(double ratio);

/// `asked`, or those of language models where `asked` are the usual ones and every estimate answers a prompt.
MetricView shown_metrics(std::span<const Result> results, const MetricView& asked = {});
/// `asked`, or what it is per token where every estimate answers a prompt: energy per token, tokens per
/// second.
const Metric& shown_metric(std::span<const Result> results, const Metric& asked);
/// The metric that ranks unless something else is asked for: latency or throughput, tokens per second of
/// answers.
const Metric& usual_order(std::span<const Result> results, const Conditions& conditions);

} // namespace archsim
