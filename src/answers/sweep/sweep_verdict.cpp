#include "answers/sweep/sweep_report.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "session/varied_part.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <sstream>

namespace archsim {

/// The best point of a model by a metric.
struct SweepWinner {
    const Metric* metric = nullptr;
    SweepRow row;
};

static std::vector<SweepWinner> sweep_winners(const SweepSummary& summary) {
    std::vector<SweepWinner> list;
    for (const auto* winners : {&summary.winners, &summary.projected_winners})
        for (const BestRows& winner : *winners)
            for (const SweepRow& row : winner.rows())
                list.push_back({&winner.metric(), row});
    return list;
}

/// "bandwidth 1.41x, units 2.00x"; empty of the device as it is stated.
static std::string factors_text(const SweepRow& row, const std::vector<SweepAxis>& axes) {
    return joined(indices(std::min(axes.size(), row.factors.size())), [&](std::size_t i) {
        return row.factors[i] == 1 ? std::string()
                                   : fmt::format("{} {}", axes[i].name, amount_text(axes[i], row.factors[i]));
    });
}

/// A point behind one that is named: what it shares with that is not said again.
static std::string label_beside(const SweepRow& named, const SweepRow& row,
                                const std::vector<SweepAxis>& axes) {
    if (row.point == named.point)
        return "the same point";
    if (row.hardware != named.hardware || row.batch != named.batch || row.executed != named.executed)
        return point_label(row, axes);
    const std::string factors = factors_text(row, axes);
    return factors.empty() ? row.hardware + " as stated" : factors;
}

/// "Fastest: A, 191 us. Least energy: the same point, 24.6 mJ. Not ranked: B, 150 us (projected)."
static std::string model_line(const SweepSummary& summary, const std::string& model) {
    std::string text, projections;
    std::optional<SweepRow> first;
    for (std::size_t w = 0; w < summary.winners.size(); ++w) {
        const Metric& metric = summary.winners[w].metric();
        const auto measured = summary.winners[w].row_of(model),
                   projected = summary.projected_winners[w].row_of(model);
        const auto& row = measured ? measured : projected;
        if (!row)
            continue;
        const auto own = summary.stated.find({row->point, metric.key});
        const bool no_gain = own != summary.stated.end() && better(metric, own->second, *row->value(metric));
        text +=
            fmt::format("{}{}: {}, {}{}.", text.empty() ? "" : " ",
                        best_words(metric) + (measured ? "" : fmt::format(" ({})", name_of(row->standing))),
                        first ? label_beside(*first, *row, summary.axes) : point_label(*row, summary.axes),
                        format_value(metric, *row->value(metric)),
                        no_gain ? fmt::format(", but {} as stated", format_value(metric, own->second)) : "");
        if (!first)
            first = row;
        if (measured && projected && better(metric, *projected->value(metric), *measured->value(metric)))
            projections += fmt::format(
                "{}{}, {} ({})", projections.empty() ? "" : "; ", point_label(*projected, summary.axes),
                format_value(metric, *projected->value(metric)), name_of(projected->standing));
    }
    if (!projections.empty())
        text += fmt::format(" Not ranked: {}.", projections);
    return text;
}

/// "1.19x faster" of a gain of 1.19 by latency, "1.25x slower" of 0.8.
static std::string gain_text(const Metric& metric, double gain) {
    const bool better = gain >= 1;
    return fmt::format("{}x {}", format_number(better ? gain : 1 / gain),
                       metric == metric::latency                     ? (better ? "faster" : "slower")
                       : better == (metric.better == Better::higher) ? "more"
                                                                     : "less");
}

/// "resnet50 at its best is 1.23x faster than TPU-v4 as it is, bound by DRAM bandwidth, 45 % of the time.
/// Next: array 2x (1.15x faster), units 2x (1.10x)."
static std::vector<std::string> best_lines(const SweepSummary& summary, const std::string& model) {
    const auto row = summary.headline(model);
    if (!row)
        return {};
    const auto facts = summary.facts.find(row->point);
    if (facts == summary.facts.end())
        return {};
    const Metric& metric = summary.best.metric();
    std::string text;
    if (facts->second.gain)
        text =
            format_number(*facts->second.gain) == format_number(1)
                ? fmt::format("no better than {} as stated", row->hardware)
                : fmt::format("{} than {} as stated", gain_text(metric, *facts->second.gain), row->hardware);
    if (!facts->second.bound.empty())
        text += fmt::format("{}bound by {}, {:.0f} % of its time", text.empty() ? "" : "; ",
                            facts->second.bound, 100 * facts->second.bound_share);
    if (text.empty())
        return {};
    text = fmt::format("{} is {}.", point_label(*row, summary.axes), text);
    if (!facts->second.gain)
        return {text};
    constexpr std::size_t kNamed = 2;
    std::size_t named = 0;
    const std::string next = joined(summary.next, [&](const NextFactor& step) {
        return step.model == model && named++ < kNamed
                   ? fmt::format("{} {} ({}, {})", step.part, factor_text(step.factor),
                                 format_value(metric, step.value), gain_text(metric, step.gain))
                   : std::string();
    });
    return {text, next.empty() ? "Twice or half of any one part gains nothing more."
                               : fmt::format("What would help next: {}.", next)};
}

/// Why more of a part gains nothing.
static std::string reason_of(const SweepCurve& curve) {
    if (!curve.unused.empty())
        return ": " + curve.unused;
    const auto [least, most] = std::ranges::minmax_element(
        curve.points, {}, [](const SweepCurve::Point& p) { return p.facts.moved; });
    const double low = least->facts.moved, high = most->facts.moved;
    if (curve.part != name_of(Structure::on_chip_memory) || !(high > 0))
        return "";
    return high < 1.01 * low
               ? fmt::format(": its software moves {} outside the chip at any size", format_bytes(low))
               : fmt::format(": {} to {} outside the chip hide behind {}", format_bytes(low),
                             format_bytes(high), most->facts.bound);
}

/// "Knees of resnet50 on TPU-v4: bandwidth 0.906x (143 us). No gain: clock."
static std::string knees_line(const SweepSummary& summary, const std::string& model) {
    std::string knees, flat, on, reason;
    constexpr double kNothing = 1.01; // of the metric over the whole range
    for (const SweepCurve& curve : summary.curves) {
        if (curve.model != model || (!on.empty() && curve.hardware != on))
            continue;
        on = curve.hardware;
        const auto [low, high] = std::ranges::minmax_element(curve.points, {}, &SweepCurve::Point::value);
        if (high->value < kNothing * low->value) {
            flat += (flat.empty() ? "" : ", ") + curve.part;
            reason += reason_of(curve);
        } else if (curve.knee)
            knees += fmt::format("{}{} {} ({})", knees.empty() ? "" : ", ", curve.part,
                                 factor_text(curve.points[*curve.knee].factor),
                                 format_value(summary.best.metric(), curve.points[*curve.knee].value));
    }
    std::string text;
    if (!knees.empty())
        text = fmt::format("{} on {}, each part alone: knee at {}.", model, on, knees);
    if (!flat.empty())
        text += fmt::format("{}{} alone changes nothing{}{}.", text.empty() ? "" : " ", flat,
                            text.empty() ? fmt::format(" ({} on {})", model, on) : std::string(), reason);
    return text;
}

/// "What matters most: bandwidth, from 0.5x to 4x latency changes by 16.1 %."
static std::string sensitivity_line(const SweepSummary& summary) {
    const auto most = std::ranges::max_element(summary.sensitivities, {}, &AxisSensitivity::swing);
    if (most == summary.sensitivities.end() || most->own_value <= 0)
        return "";
    return fmt::format("{} depends most on {}: {} at {}, {} at {}.", summary.sensitivity_of->title,
                       most->axis, format_value(*summary.sensitivity_of, most->low_value),
                       factor_text(most->low_factor), format_value(*summary.sensitivity_of, most->high_value),
                       factor_text(most->high_factor));
}

std::string factor_text(double factor) {
    return format_number(factor) + "x";
}

std::string amount_text(const SweepAxis& axis, double factor) {
    if (axis.own <= 0)
        return factor_text(factor);
    const double amount = axis.own * factor;
    switch (dimension_of(varied_part(axis.name))) {
    case PhysicalDimension::bytes:
        return format_bytes(amount);
    case PhysicalDimension::bandwidth:
        return format_bytes(amount) + "/s";
    case PhysicalDimension::frequency:
        return format_count(amount) + "Hz";
    case PhysicalDimension::power:
        return format_power(amount);
    default:
        return fmt::format("{0:g}x{0:g}", amount);
    }
}

std::string point_label(const SweepRow& row, const std::vector<SweepAxis>& axes) {
    const std::string factors = factors_text(row, axes);
    return fmt::format("{}{}{}, batch {}, {}", row.hardware, factors.empty() ? "" : ", ", factors, row.batch,
                       format_label(row));
}

std::string format_label(const SweepRow& row) {
    const auto asked = PrecisionConfig::parse(row.precision);
    return !asked || name_of(asked->compute) == row.executed || row.executed.empty()
               ? row.executed
               : fmt::format("{} ({} requested)", row.executed, row.precision);
}

std::vector<std::string> sweep_lines(const SweepSummary& summary) {
    const std::string points = plural(summary.points, "point");
    const std::string why = fmt::format("{}", fmt::join(summary.reasons, "; "));
    if (summary.estimated == 0)
        return {fmt::format("None of {} could be estimated{}{}.", points, why.empty() ? "" : ": ", why)};
    std::vector<std::string> lines;
    const std::vector<std::string> models =
        distinct(sweep_winners(summary), [](const SweepWinner& winner) { return winner.row.model; });
    for (const std::string& model : models)
        lines.push_back(models.size() == 1 ? model_line(summary, model)
                                           : fmt::format("{}: {}", model, model_line(summary, model)));
    for (const std::string& model : models) {
        for (const std::string& line : best_lines(summary, model))
            lines.push_back(models.size() == 1 ? line : fmt::format("{}: {}", model, line));
        if (std::string line = knees_line(summary, model); !line.empty())
            lines.push_back(std::move(line));
    }
    if (summary.sensitivity_of)
        if (std::string line = sensitivity_line(summary); !line.empty())
            lines.push_back(std::move(line));
    std::string counts = points;
    if (summary.estimated < summary.points)
        counts += fmt::format(", {} of them with an estimate ({})", summary.estimated, why);
    if (summary.front)
        counts += fmt::format("; {} on the Pareto front of {} and {}", summary.front->rows().size(),
                              summary.front->first().noun, summary.front->second().noun);
    lines.push_back(counts + ".");
    return lines;
}

using Json = nlohmann::ordered_json;

/// A row as append_rows() writes it: factors under the names of their axes, numbers of metrics under theirs.
static Json sweep_row_schema() {
    const auto text = [](const char* meaning) { return Json{{"type", "string"}, {"description", meaning}}; };
    Json properties = {{"point", {{"type", "integer"}, {"description", "index in the whole space"}}},
                       {"model", {{"type", "string"}}},
                       {"hardware", {{"type", "string"}}},
                       {"runtime", text("software stack")},
                       {"precision", text("asked for")},
                       {"executed_precision", text("what runs")},
                       {"batch_size", {{"type", "integer"}}},
                       {"status", json_schema::one_of(UpTo{Status::incomplete}.names())},
                       {"evidence", {{"type", {"string", "null"}}, {"description", kEvidenceMeans}}}};
    for (const MetricField& field : fields_of(MetricTable::standard()))
        properties[field.key()] = {{"type", {"number", "null"}}, {"description", meaning_of(field)}};
    properties["power_limited"] = {{"type", {"boolean", "null"}}};
    properties["reason"] = {{"type", {"string", "null"}}, {"description", "why there is no estimate"}};
    Json required = Json::array();
    for (const auto& [key, value] : properties.items())
        required.push_back(key);
    return {{"type", "object"},
            {"required", std::move(required)},
            {"properties", std::move(properties)},
            {"additionalProperties",
             {{"type", "number"}, {"description", "a factor on a part of the device, named as in axes"}}}};
}
const Shaped kSweepRows = {[] { return Json{{"type", "array"}, {"items", sweep_row_schema()}}; }};

/// The rows as a file of them has them.
static Json rows_json(const std::vector<SweepRow>& rows, const SweepSummary& summary) {
    std::string text;
    if (!rows.empty())
        append_rows(rows, summary.axes, RowFormat::ndjson, text, *rows.front().metrics);
    Json list = Json::array();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        list.push_back(Json::parse(printable_json(line)));
    return list;
}

static Members<SweepWinner> sweep_winner_members() {
    using W = SweepWinner;
    return {{"metric", "", [](const W& w) { return w.metric->key; }},
            {"measured", "false: it may not lead, and is named beside what may",
             [](const W& w) { return leads(w.row.standing); }},
            {"model", "", [](const W& w) { return w.row.model; }},
            {"point", "index in the whole space", [](const W& w) { return w.row.point; }},
            {"hardware", "", [](const W& w) { return w.row.hardware; }},
            {"value", "", [](const W& w) { return *w.row.value(*w.metric); }},
            {"unit", "of the value", [](const W& w) { return w.metric->unit; }}};
}

/// The facts of a point; null where they are not known.
static Members<SweepPointFacts> point_fact_members() {
    using F = SweepPointFacts;
    return {{"gain", "times better than the device as stated, by the metric that ranks", &F::gain},
            {"bound_by", "the resource, or the fixed cost, that most of the time goes to",
             [](const F& f) { return nonempty(std::string(f.bound)); }},
            {"bound_share", "of the time, of the side that the resource is on",
             [](const F& f) { return known(!f.bound.empty(), f.bound_share); }}};
}

using StudiedPoint = std::pair<std::uint64_t, SweepPointFacts>;

static Members<SweepCurve> curve_members() {
    using C = SweepCurve;
    using P = SweepCurve::Point;
    return {{"model", "", &C::model},
            {"hardware", "", &C::hardware},
            {"part", "of the device", &C::part},
            {"knee", "factor beyond which more of the part gains less than half as much; null: none",
             [](const C& c) { return c.knee ? std::optional(c.points[*c.knee].factor) : std::nullopt; }},
            {"points", "by factor", &C::points,
             Members<P>{{"factor", "", &P::factor}, {"value", "of the metric that ranks", &P::value}}.with(
                 point_fact_members().of<P>(std::mem_fn(&P::facts)))}};
}

static Members<AxisSensitivity> axis_members() {
    using A = AxisSensitivity;
    return {{"axis", "", &A::axis},
            {"low_factor", "", &A::low_factor},
            {"high_factor", "", &A::high_factor},
            {"low_value", "", &A::low_value},
            {"own_value", "of the device as stated", &A::own_value},
            {"high_value", "", &A::high_value}};
}

AnswerDocument document_of(const SweepSummary& summary, PlainView) {
    using S = SweepSummary;
    const Members<S> verdict = {
        {"lines", "the answer in sentences, as reports show it", sweep_lines},
        {"best", "the best point of each model, a metric each", sweep_winners, sweep_winner_members()}};
    const Members<S> front = {
        {"metrics", "",
         [](const S& s) {
             return std::array{s.front->first().key, s.front->second().key};
         }},
        {"rows", "", [](const S& s) { return rows_json(s.front->rows(), s); }, kSweepRows}};
    const Members<S> sensitivity = {{"metric", "", [](const S& s) { return s.sensitivity_of->key; }},
                                    {"axes", "", &S::sensitivities, axis_members()}};
    return {summary,
            "sweep_design_space",
            "a space of designs: its best points, its front, what matters in it",
            {{"verdict", "the answer", std::identity{}, verdict},
             {"axes", "factors on parts of the device",
              [](const S& s) {
                  return mapped(s.axes, [](const SweepAxis& axis) {
                      return std::pair<std::string, std::vector<double>>{axis.name, axis.factors};
                  });
              }},
             {"points", "of this shard", &S::points},
             {"estimated", "those with an estimate", &S::estimated},
             {"sorted_by", "the metric that ranks the rows", [](const S& s) { return s.best.metric().key; }},
             {"rows", "the best points, as --top asks; every point: --format csv or ndjson",
              [](const S& s) { return rows_json(s.best.rows(), s); }, kSweepRows},
             {"studied", "listed points: what binds them, and what they gain",
              [](const S& s) { return std::vector<StudiedPoint>(s.facts.begin(), s.facts.end()); },
              Members<StudiedPoint>{{"point", "index in the whole space", &StudiedPoint::first}}.with(
                  point_fact_members().of<StudiedPoint>(std::mem_fn(&StudiedPoint::second)))},
             {"curves", "each part alone, the others as the device has them", &S::curves, curve_members()},
             {"next", "what one more change of a part would do at the best point", &S::next,
              Members<NextFactor>{{"model", "", &NextFactor::model},
                                  {"part", "", &NextFactor::part},
                                  {"factor", "on that of the best point", &NextFactor::factor},
                                  {"value", "", &NextFactor::value},
                                  {"gain", "", &NextFactor::gain}}},
             {"pareto", "null: not asked for", [](const S& s) { return s.front ? &s : nullptr; }, front},
             {"sensitivity", "null: not asked for",
              [](const S& s) { return s.sensitivity_of ? &s : nullptr; }, sensitivity}}};
}

} // namespace archsim
