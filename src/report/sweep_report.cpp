#include "archsim/report/sweep.hpp"

#include "report/number_format.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

std::string value_text(Objective objective, double value) {
    switch (objective) {
    case Objective::latency:
        return format_time(value);
    case Objective::energy:
        return format_energy(value);
    case Objective::power:
        return format_power(value);
    case Objective::memory:
        return format_bytes(value);
    default:
        return format_number(value);
    }
}

std::string factor_text(double factor) {
    return format_number(factor) + "x";
}

Column number_column(std::string heading, std::string unit, std::string key) {
    return {
        .heading = std::move(heading), .unit = std::move(unit), .key = std::move(key), .align = Align::right};
}

Table front_table(const ParetoFront& front, const std::vector<SweepAxis>& axes) {
    const ObjectiveInfo &first = info_of(front.first()), &second = info_of(front.second());
    Table table;
    table.title = fmt::format("Pareto front of {} and {}", first.noun, second.noun);
    table.columns = {{.heading = "Model", .unit = {}, .key = "model"},
                     {.heading = "Hardware", .unit = {}, .key = "hardware"},
                     {.heading = "Precision", .unit = {}, .key = "precision"},
                     number_column("Batch", "", "batch_size")};
    for (const SweepAxis& axis : axes)
        table.columns.push_back(number_column(axis.name, "", axis.name));
    for (const ObjectiveInfo* info : {&first, &second})
        table.columns.push_back(number_column(std::string(info->title), "", std::string(info->name)));
    table.columns.push_back(number_column("Point", "", "point"));
    for (const SweepRow& r : front.rows()) {
        std::vector<Cell> cells = {{r.model}, {r.hardware}, {r.executed}, {fmt::to_string(r.batch)}};
        for (const double factor : r.factors)
            cells.push_back({factor_text(factor), factor});
        for (const Objective objective : {front.first(), front.second()})
            cells.push_back({value_text(objective, value_of(r, objective)), value_of(r, objective)});
        cells.push_back({fmt::to_string(r.point)});
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back(
        "No other point of the same model is better in one of the two and as good in the other.");
    return table;
}

Table sensitivity_table(Objective objective, const std::vector<AxisSensitivity>& sensitivities) {
    const ObjectiveInfo& info = info_of(objective);
    Table table;
    table.title = fmt::format("Sensitivity of {} to each part alone", info.noun);
    table.columns = {{.heading = "Part", .unit = {}, .key = "axis"},
                     number_column("From", "", "low_factor"),
                     number_column("To", "", "high_factor"),
                     number_column("At from", "", "low_value"),
                     number_column("As it is", "", "own_value"),
                     number_column("At to", "", "high_value"),
                     number_column("Swing", "%", "swing")};
    for (const AxisSensitivity& s : sensitivities)
        table.rows.push_back({{s.axis},
                              {factor_text(s.low_factor), s.low_factor},
                              {factor_text(s.high_factor), s.high_factor},
                              {value_text(objective, s.low_value), s.low_value},
                              {value_text(objective, s.own_value), s.own_value},
                              {value_text(objective, s.high_value), s.high_value},
                              {format_number(100 * s.swing() / s.own_value), s.swing()}});
    return table;
}

Chart tornado(Objective objective, const std::vector<AxisSensitivity>& sensitivities) {
    Chart chart{.kind = ChartKind::bar,
                .title = fmt::format("Swing of {}", info_of(objective).noun),
                .x_title = {},
                .y_title = std::string(info_of(objective).unit),
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
