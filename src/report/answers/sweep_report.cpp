#include "archsim/report/sweep_report.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

std::string factor_text(double factor) {
    return format_number(factor) + "x";
}

Column number_column(std::string heading, std::string unit, std::string key) {
    return {
        .heading = std::move(heading), .unit = std::move(unit), .key = std::move(key), .align = Align::right};
}

Table front_table(const ParetoFront& front, const std::vector<SweepAxis>& axes) {
    std::vector<ColumnOf<SweepRow>> columns = {
        {{"Model", "", "model"}, [](const SweepRow& r) { return Cell{r.model}; }},
        {{"Hardware", "", "hardware"}, [](const SweepRow& r) { return Cell{r.hardware}; }},
        {{"Precision", "", "precision"}, [](const SweepRow& r) { return Cell{r.executed}; }},
        {number_column("Batch", "", "batch_size"),
         [](const SweepRow& r) { return count_cell(true, static_cast<double>(r.batch)); }}};
    for (std::size_t i = 0; i < axes.size(); ++i)
        columns.push_back({number_column(axes[i].name, "", axes[i].name), [i](const SweepRow& r) {
                               return Cell{factor_text(r.factors[i]), r.factors[i]};
                           }});
    for (const Metric* m : {&front.first(), &front.second()})
        columns.push_back({number_column(m->title, "", m->key), [m](const SweepRow& r) {
                               return Cell{format_value(*m, *r.value(*m)), *r.value(*m)};
                           }});
    columns.push_back({number_column("Point", "", "point"),
                       [](const SweepRow& r) { return count_cell(true, static_cast<double>(r.point)); }});
    Table table = table_of(fmt::format("Pareto front of {} and {}", front.first().noun, front.second().noun),
                           columns, front.rows());
    table.notes.push_back(
        "No other point of the same model is better in one of the two and as good in the other.");
    return table;
}

Table sensitivity_table(const Metric& metric, const std::vector<AxisSensitivity>& sensitivities) {
    using Row = AxisSensitivity;
    const auto factor = [](const char* heading, const char* key, double Row::*at) {
        return ColumnOf<Row>{number_column(heading, "", key), [at](const Row& s) {
                                 return Cell{factor_text(s.*at), s.*at};
                             }};
    };
    const auto value = [&](const char* heading, const char* key, double Row::*at) {
        return ColumnOf<Row>{number_column(heading, "", key), [&metric, at](const Row& s) {
                                 return Cell{format_value(metric, s.*at), s.*at};
                             }};
    };
    const std::vector<ColumnOf<Row>> columns = {
        {{"Part", "", "axis"}, [](const Row& s) { return Cell{s.axis}; }},
        factor("From", "low_factor", &Row::low_factor),
        factor("To", "high_factor", &Row::high_factor),
        value("At from", "low_value", &Row::low_value),
        value("As it is", "own_value", &Row::own_value),
        value("At to", "high_value", &Row::high_value),
        {number_column("Swing", "%", "swing"), [](const Row& s) {
             return Cell{format_number(100 * s.swing() / s.own_value), s.swing()};
         }}};
    return table_of(fmt::format("Sensitivity of {} to each part alone", metric.noun), columns, sensitivities);
}

Chart tornado(const Metric& metric, const std::vector<AxisSensitivity>& sensitivities) {
    Chart chart{.kind = ChartKind::bar,
                .title = fmt::format("Swing of {}", metric.noun),
                .x_title = {},
                .y_title = metric.unit,
                .series = {}};
    ChartSeries series{.name = "swing", .points = {}};
    for (const AxisSensitivity& s : sensitivities)
        series.points.push_back({.label = s.axis, .y = s.swing(), .y_low = {}, .y_high = {}, .hover = {}});
    chart.series.push_back(std::move(series));
    return chart;
}

} // namespace

Report describe(const SweepSummary& summary) {
    Report report{.title = "Design-space sweep", .blocks = {}};
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(
        Paragraph{fmt::format("{} points, {} of them with an estimate.", summary.points, summary.estimated),
                  Tone::plain});
    if (summary.front)
        report.blocks.push_back(front_table(*summary.front, summary.axes));
    if (summary.sensitivity_of) {
        report.blocks.push_back(sensitivity_table(*summary.sensitivity_of, summary.sensitivities));
        report.blocks.push_back(tornado(*summary.sensitivity_of, summary.sensitivities));
    }
    return report;
}

} // namespace archsim
