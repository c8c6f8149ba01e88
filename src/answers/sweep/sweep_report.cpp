#include "answers/sweep/sweep_report.hpp"

#include "core/lists.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>

namespace archsim {

static bool is_standard(const Metric& m) {
    return MetricTable::standard().find(m.key) != nullptr;
}

/// Values have units of their own, but for those of answers: "tokens/s" in every row would be long.
static Column metric_column(const Metric& m, int priority) {
    if (is_standard(m))
        return {m.title, "", m.field, Align::right, priority, column_of(m).best};
    Column column = column_of(m);
    column.priority = priority;
    return column;
}

/// "1.23x".
static Cell gain_cell(const SweepPointFacts& facts) {
    return facts.gain ? Cell{format_number(*facts.gain) + "x", *facts.gain} : Cell{};
}

/// "DRAM bandwidth 62 %".
static std::string binding_text(const SweepPointFacts& facts) {
    return facts.bound.empty() ? std::string()
                               : fmt::format("{} {:.0f} %", facts.bound, 100 * facts.bound_share);
}

/// Columns of points: what varies, then some metrics. What is the same in all rows leaves a narrow terminal
/// first, so that what binds has a line.
static std::vector<ColumnOf<SweepRow>> point_columns(const std::vector<SweepAxis>& axes,
                                                     const std::vector<const Metric*>& metrics,
                                                     const std::map<std::uint64_t, SweepPointFacts>& facts,
                                                     const std::vector<SweepRow>& rows) {
    using S = SweepRow;
    std::vector<ColumnOf<S>> columns = {
        {{"Model", "", "model"}, [](const S& r) { return Cell{r.model}; }},
        {{"Hardware", "", "hardware"}, [](const S& r) { return Cell{r.hardware}; }},
        {{"Precision", "", "precision"}, [](const S& r) { return Cell{format_label(r)}; }},
        {most_best("Batch", "", "batch_size"),
         [](const S& r) { return count_cell(true, static_cast<double>(r.batch)); }}};
    constexpr int kSame = 4;
    const auto same = [&](auto&& of_row) {
        return std::ranges::all_of(rows, [&](const S& r) { return of_row(r) == of_row(rows.front()); });
    };
    if (same([](const S& r) { return r.executed; }))
        columns[2].column.priority = kSame;
    if (same([](const S& r) { return r.batch; }))
        columns[3].column.priority = kSame;
    for (std::size_t i = 0; i < axes.size(); ++i)
        columns.push_back({most_best(axes[i].name, "", axes[i].name), [i, axis = axes[i]](const S& r) {
                               return Cell{amount_text(axis, r.factors[i]), r.factors[i]};
                           }});
    const bool all_lead = std::ranges::all_of(rows, [](const S& r) { return leads(r.standing); });
    columns.push_back(evidence_column<S>(&S::evidence, all_lead ? kSame : 1));
    constexpr int kFirst = 2; // what ranks, and the next; the others leave a narrow terminal first
    int at = 0;
    for (const Metric* m : metrics)
        columns.push_back({metric_column(*m, ++at > kFirst ? at : 0), [m](const S& r) {
                               const auto value = r.value(*m);
                               return !value ? Cell{}
                                             : Cell{is_standard(*m) ? format_value(*m, *value)
                                                                    : column_number(*m, *value),
                                                    *value};
                           }});
    const auto of = [&facts](const S& r) {
        const auto known = facts.find(r.point);
        return known == facts.end() ? SweepPointFacts{} : known->second;
    };
    const auto known = [&facts](auto&& has) {
        return std::ranges::any_of(facts, [&](const auto& f) { return has(f.second); });
    };
    if (known([](const SweepPointFacts& f) { return f.gain.has_value(); }))
        columns.push_back(
            {most_best("vs stated", "", "gain"), [of](const S& r) { return gain_cell(of(r)); }});
    if (known([](const SweepPointFacts& f) { return !f.bound.empty(); }))
        columns.push_back({{"Bound by", "", "bound_by"}, [of](const S& r) { return binding_text(of(r)); }});
    columns.push_back({{"Point", "", "point", Align::right, 3},
                       [](const S& r) { return count_cell(true, static_cast<double>(r.point)); }});
    return columns;
}

static Table front_table(const SweepSummary& summary) {
    const ParetoFront& front = *summary.front;
    Table table =
        table_of(fmt::format("Pareto front of {} and {}", front.first().noun, front.second().noun),
                 point_columns(summary.axes, {&front.first(), &front.second()}, summary.facts, front.rows()),
                 front.rows());
    table.notes.push_back(
        "No other point of the same model is better in one of the two and as good in the other.");
    return table;
}

static Table best_table(const SweepSummary& summary) {
    std::vector<const Metric*> metrics = {&summary.best.metric()};
    for (const Metric* m : summary.shown)
        if (*m != *metrics.front())
            metrics.push_back(m);
    const std::vector<SweepRow> rows = summary.best.rows();
    Table table = table_of(fmt::format("Points (sorted by {})", summary.best.metric().noun),
                           point_columns(summary.axes, metrics, summary.facts, rows), rows);
    if (rows.size() < summary.estimated)
        table.notes.push_back(fmt::format("{} of {} points, equal ones once: --top 0 lists all, --output "
                                          "FILE.csv writes every one with all metrics.",
                                          rows.size(), summary.points));
    append(table.notes, summary.notes);
    return table;
}

struct CurveRow {
    const SweepCurve* curve;
    std::size_t point;
};

constexpr std::size_t kRowsOfCurve = 9; ///< of a part; the page's charts have them all

/// The ends, the device as it is, the knee, and others evenly between them.
static std::vector<CurveRow> rows_of(const SweepCurve& curve) {
    std::vector<CurveRow> rows;
    const std::size_t all = curve.points.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i < all; ++i) {
        const bool even = all <= kRowsOfCurve || i == at * (all - 1) / (kRowsOfCurve - 1);
        at += even ? 1U : 0U;
        if (even || curve.points[i].factor == 1 || curve.knee == i)
            rows.push_back({&curve, i});
    }
    return rows;
}

/// The effect of each part alone on one device.
static Table curve_table(const Metric& metric, const std::vector<CurveRow>& rows, const std::string& title) {
    using C = CurveRow;
    const auto point = [](const C& r) -> const SweepCurve::Point& { return r.curve->points[r.point]; };
    const std::vector<ColumnOf<C>> columns = {
        {{"Part", "", "part"}, [](const C& r) { return Cell{r.curve->part}; }},
        {most_best("Factor", "", "factor"),
         [point](const C& r) {
             return Cell{factor_text(point(r).factor), point(r).factor};
         }},
        {most_best(metric.title, "", metric.field),
         [point, &metric](const C& r) {
             return Cell{format_value(metric, point(r).value), point(r).value};
         }},
        {most_best("vs stated", "", "gain"), [point](const C& r) { return gain_cell(point(r).facts); }},
        {{"Bound by", "", "bound_by"}, [point](const C& r) { return binding_text(point(r).facts); }},
        {{"Knee", "", "knee"}, [](const C& r) { return text_cell(r.curve->knee == r.point ? "knee" : ""); }}};
    Table table = table_of(title, columns, rows);
    table.notes.push_back("vs stated: times better than the device as the database states it (1x).");
    if (std::ranges::any_of(rows, [](const C& r) { return r.curve->knee.has_value(); }))
        table.notes.push_back("knee: beyond it more of the part gains less than half as much, factor for "
                              "factor.");
    return table;
}

constexpr std::size_t kCurveTables = 2; ///< of models and devices; the others are charts of the page

/// A table per model and device; a page draws a chart per part instead of further tables.
static void add_curves(const SweepSummary& summary, Format format, std::vector<Block>& blocks) {
    const Metric& metric = summary.best.metric();
    std::size_t tables = 0;
    for (std::size_t i = 0; i < summary.curves.size();) {
        const SweepCurve& first = summary.curves[i];
        std::vector<CurveRow> rows;
        std::size_t points = 0;
        for (; i < summary.curves.size() && summary.curves[i].model == first.model &&
               summary.curves[i].hardware == first.hardware;
             ++i) {
            append(rows, rows_of(summary.curves[i]));
            points += summary.curves[i].points.size();
        }
        Table table =
            curve_table(metric, rows, fmt::format("Each part alone: {} on {}", first.model, first.hardware));
        if (rows.size() < points)
            table.notes.push_back(fmt::format("{} of {} factors; JSON has them all.", rows.size(), points));
        if (format == Format::html || tables < kCurveTables)
            blocks.push_back(std::move(table));
        ++tables;
    }
    if (format != Format::html)
        return;
    for (const SweepAxis& axis : summary.axes) {
        Chart chart{.kind = ChartKind::line,
                    .title = fmt::format("{} against {}", metric.title, axis.name),
                    .x_title = fmt::format("{} (times the device's own)", axis.name),
                    .y_title = fmt::format("{} ({})", metric.noun, axis_unit_of(metric)),
                    .x_log = true,
                    .y_log = true,
                    .series = {}};
        for (const SweepCurve& curve : summary.curves) {
            if (curve.part != axis.name)
                continue;
            ChartSeries series{.name = fmt::format("{} on {}", curve.model, curve.hardware), .points = {}};
            for (const SweepCurve::Point& p : curve.points)
                series.points.push_back(
                    {.x = p.factor,
                     .y = p.value * metric.scale,
                     .hover = fmt::format("{} {}: {}, bound by {}", curve.part, factor_text(p.factor),
                                          format_value(metric, p.value), binding_text(p.facts))});
            chart.series.push_back(std::move(series));
        }
        if (!chart.series.empty())
            blocks.push_back(std::move(chart));
    }
}

static Table sensitivity_table(const Metric& metric, const std::vector<AxisSensitivity>& sensitivities) {
    using Row = AxisSensitivity;
    const auto factor = [](const char* heading, const char* key, double Row::*at) {
        return ColumnOf<Row>{most_best(heading, "", key), [at](const Row& s) {
                                 return Cell{factor_text(s.*at), s.*at};
                             }};
    };
    const bool own_units = is_standard(metric);
    const auto value = [&](const char* heading, const char* key, auto at, int priority = 0) {
        return ColumnOf<Row>{
            most_best(heading, own_units ? "" : metric.column_unit, key, priority),
            [&metric, own_units, at](const Row& s) {
                const double x = std::invoke(at, s);
                return Cell{own_units ? format_value(metric, x) : column_number(metric, x), x};
            }};
    };
    const std::vector<ColumnOf<Row>> columns = {
        {{"Part", "", "axis"}, [](const Row& s) { return Cell{s.axis}; }},
        factor("From", "low_factor", &Row::low_factor),
        factor("To", "high_factor", &Row::high_factor),
        value("At from", "low_value", &Row::low_value),
        value("As it is", "own_value", &Row::own_value),
        value("At to", "high_value", &Row::high_value),
        value("Swing", "swing", &Row::swing, 1)};
    return table_of(fmt::format("Sensitivity of {} to each part alone", metric.noun), columns, sensitivities);
}

static Chart tornado(const Metric& metric, const std::vector<AxisSensitivity>& sensitivities) {
    Chart chart{.kind = ChartKind::bar,
                .title = fmt::format("Swing of {}", metric.noun),
                .x_title = {},
                .y_title = axis_unit_of(metric),
                .series = {}};
    ChartSeries series{.name = "swing", .points = {}};
    for (const AxisSensitivity& s : sensitivities)
        if (s.swing() != 0) // a bar without length is none
            series.points.push_back(
                {.label = s.axis, .y = s.swing() * metric.scale, .y_low = {}, .y_high = {}, .hover = {}});
    chart.series.push_back(std::move(series));
    return chart;
}

/// Time and energy of the sampled points, a series per device, and the front where those two make it.
static Chart point_chart(const SweepSummary& summary) {
    const bool by_front = summary.front.has_value();
    const bool answers = summary.shown.front() != &metric::latency;
    const Metric& x = by_front ? summary.front->first() : answers ? metric::token_time : metric::latency;
    const Metric& y = by_front ? summary.front->second() : answers ? metric::token_energy : metric::energy;
    const auto point_of = [&](const SweepRow& r) {
        ChartPoint point;
        point.x = r.value(x).value_or(0) * x.scale;
        point.y = r.value(y).value_or(0) * y.scale;
        point.hover = fmt::format("{}: {}, {}", point_label(r, summary.axes),
                                  format_value(x, point.x / x.scale), format_value(y, point.y / y.scale));
        return point;
    };
    Chart chart{.kind = ChartKind::scatter,
                .title = fmt::format("{} against {}", y.title, x.noun),
                .x_title = fmt::format("{} ({})", x.noun, axis_unit_of(x)),
                .y_title = fmt::format("{} ({})", y.noun, axis_unit_of(y)),
                .x_log = true,
                .y_log = true,
                .series = {}};
    const bool several = std::ranges::any_of(
        summary.sample, [&](const SweepRow& r) { return r.model != summary.sample.front().model; });
    for (const SweepRow& r : summary.sample) {
        if (!r.value(x) || !r.value(y))
            continue;
        const std::string name = several ? fmt::format("{} on {}", r.model, r.hardware) : r.hardware;
        auto at = std::ranges::find(chart.series, name, &ChartSeries::name);
        if (at == chart.series.end())
            at = chart.series.insert(at, ChartSeries{.name = name, .points = {}});
        at->points.push_back(point_of(r));
    }
    if (by_front) // one per model: points of different networks are no choice of a design
        for (const SweepRow& r : summary.front->rows()) {
            const std::string name = "Pareto front of " + r.model;
            if (chart.series.empty() || chart.series.back().name != name)
                chart.series.push_back({.name = name, .points = {}, .joined = true});
            chart.series.back().points.push_back(point_of(r));
        }
    return chart;
}

constexpr std::uint64_t kCharted = 2000; ///< points of a chart; more say nothing and load slowly

SweepSummary::SweepSummary(std::vector<SweepAxis> parts, const Metric& ranks, std::size_t top,
                           std::uint64_t all, const MetricTable& metrics)
    : best(ranks, top), axes(std::move(parts)), stride(std::max<std::uint64_t>(1, all / kCharted)) {
    const bool answers = metrics.find(metric::token_rate.key) != nullptr;
    shown = answers ? std::vector<const Metric*>{&metric::token_rate, &metric::token_energy,
                                                 &metric::token_time, &metric::first_token, &metric::power}
                    : std::vector<const Metric*>{&metric::latency, &metric::energy, &metric::power};
    for (const Metric* m : {&ranks, shown[0], shown[1]})
        if (std::ranges::none_of(winners, [m](const BestRows& known) { return known.metric() == *m; }))
            winners.emplace_back(*m, 1);
    projected_winners = winners;
}

void SweepSummary::count(const SweepRow& row) {
    ++points;
    estimated += row.status == Status::ok;
    incomplete += row.status == Status::incomplete;
}

void SweepSummary::add(const SweepRow& row) {
    if (points % stride == 0 && row.status == Status::ok)
        sample.push_back(row);
    count(row);
    if (row.status != Status::ok && reasons.size() < kReasons)
        if (std::string why = fmt::format("{} on {}: {}", row.model, row.hardware, row.reason);
            !contains(reasons, why))
            reasons.push_back(std::move(why));
    if (front)
        front->add(row);
    best.add(row);
    for (BestRows& winner : leads(row.standing) ? winners : projected_winners)
        winner.add(row);
}

Report describe(const SweepSummary& summary, PlainView, Format format) {
    Report report{.title = "Design-space sweep", .blocks = {}};
    if (format == Format::csv)
        return {report.title, {best_table(summary)}};
    std::vector<std::string> lines = sweep_lines(summary);
    const std::vector<std::string> more = beyond_first_rows(lines);
    add_blocks(report, Heading{1, "DESIGN-SPACE SWEEP"}, Takeaway{std::move(lines)});
    if (summary.estimated > 0)
        report.blocks.push_back(best_table(summary));
    append(report.blocks, mapped(more, [](const std::string& line) { return Paragraph{line}; }));
    add_curves(summary, format, report.blocks);
    if (summary.front)
        report.blocks.push_back(front_table(summary));
    if (summary.sensitivity_of) {
        report.blocks.push_back(sensitivity_table(*summary.sensitivity_of, summary.sensitivities));
        if (Chart bars = tornado(*summary.sensitivity_of, summary.sensitivities);
            !bars.series.front().points.empty())
            report.blocks.push_back(std::move(bars));
    }
    if (format == Format::html && !summary.sample.empty())
        report.blocks.push_back(point_chart(summary));
    return report;
}

} // namespace archsim
