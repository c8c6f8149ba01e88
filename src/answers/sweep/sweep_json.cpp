#include "answers/sweep/sweep_report.hpp"
#include "core/text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/render/answer_document.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

/// A row as append_rows() writes it: factors under the names of their axes, numbers of metrics under theirs.
Json sweep_row_schema() {
    const auto text = [](const char* meaning) { return Json{{"type", "string"}, {"description", meaning}}; };
    Json properties = {{"point", {{"type", "integer"}, {"description", "index in the whole space"}}},
                       {"model", {{"type", "string"}}},
                       {"hardware", {{"type", "string"}}},
                       {"runtime", text("software stack")},
                       {"precision", text("asked for")},
                       {"executed_precision", text("what runs")},
                       {"batch_size", {{"type", "integer"}}},
                       {"status", json_schema::one_of(UpTo{Status::incomplete}.names())}};
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
Json rows_json(const std::vector<SweepRow>& rows, const SweepSummary& summary) {
    std::string text;
    if (!rows.empty())
        append_rows(rows, summary.axes, RowFormat::ndjson, text, *rows.front().metrics);
    Json list = Json::array();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        list.push_back(Json::parse(printable_json(line)));
    return list;
}

/// The best point of a model by a metric.
struct SweepWinner {
    const Metric* metric = nullptr;
    SweepRow row;
};

std::vector<SweepWinner> sweep_winners(const SweepSummary& summary) {
    std::vector<SweepWinner> list;
    for (const auto* winners : {&summary.winners, &summary.projected_winners})
        for (const BestRows& winner : *winners)
            for (const SweepRow& row : winner.rows())
                list.push_back({&winner.metric(), row});
    return list;
}

Members<SweepWinner> sweep_winner_members() {
    using W = SweepWinner;
    return {{"metric", "", [](const W& w) { return w.metric->key; }},
            {"measured", "false: it may not lead, and is named beside what may",
             [](const W& w) { return w.row.standing == Standing::leads; }},
            {"model", "", [](const W& w) { return w.row.model; }},
            {"point", "index in the whole space", [](const W& w) { return w.row.point; }},
            {"hardware", "", [](const W& w) { return w.row.hardware; }},
            {"value", "", [](const W& w) { return *w.row.value(*w.metric); }},
            {"unit", "of the value", [](const W& w) { return w.metric->unit; }}};
}

/// What is known of a point; null what is not.
Members<SweepPointFacts> point_fact_members() {
    using F = SweepPointFacts;
    return {{"gain", "times better than the device as stated, by the metric that ranks", &F::gain},
            {"bound_by", "the resource, or the fixed cost, that most of the time goes to",
             [](const F& f) { return nonempty(std::string(f.bound)); }},
            {"bound_share", "of the time, of the side that the resource is on",
             [](const F& f) { return known(!f.bound.empty(), f.bound_share); }}};
}

struct StudiedPoint {
    std::uint64_t point = 0;
    SweepPointFacts facts;
};

Members<SweepCurve> curve_members() {
    using C = SweepCurve;
    using P = SweepCurve::Point;
    return {{"model", "", &C::model},
            {"hardware", "", &C::hardware},
            {"part", "of the device", &C::part},
            {"knee", "factor beyond which more of the part gains less than half as much; null: none",
             [](const C& c) { return c.knee ? std::optional(c.points[*c.knee].factor) : std::nullopt; }},
            {"points", "by factor", &C::points,
             Members<P>{{"factor", "", &P::factor}, {"value", "of the metric that ranks", &P::value}}.with(
                 point_fact_members().of<P>([](const P& p) { return p.facts; }))}};
}

Members<AxisSensitivity> axis_members() {
    using A = AxisSensitivity;
    return {{"axis", "", &A::axis},
            {"low_factor", "", &A::low_factor},
            {"high_factor", "", &A::high_factor},
            {"low_value", "", &A::low_value},
            {"own_value", "of the device as stated", &A::own_value},
            {"high_value", "", &A::high_value}};
}

AnswerDocument<SweepSummary> sweep_document() {
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
    return {"sweep_design_space",
            "a space of designs: its best points, its front, what matters in it",
            {{"verdict", "the answer", std::identity{}, verdict},
             {"axes", "factors on parts of the device",
              [](const S& s) {
                  std::vector<std::pair<std::string, std::vector<double>>> axes;
                  for (const SweepAxis& axis : s.axes)
                      axes.emplace_back(axis.name, axis.factors);
                  return axes;
              }},
             {"points", "of this shard", &S::points},
             {"estimated", "those with an estimate", &S::estimated},
             {"sorted_by", "the metric that ranks the rows", [](const S& s) { return s.best.metric().key; }},
             {"rows", "the best points, as --top asks; every point: --format csv or ndjson",
              [](const S& s) { return rows_json(s.best.rows(), s); }, kSweepRows},
             {"studied", "listed points: what binds them, and what they gain",
              [](const S& s) {
                  std::vector<StudiedPoint> list;
                  for (const auto& [point, facts] : s.facts)
                      list.push_back({point, facts});
                  return list;
              },
              Members<StudiedPoint>{{"point", "index in the whole space", &StudiedPoint::point}}.with(
                  point_fact_members().of<StudiedPoint>([](const StudiedPoint& p) { return p.facts; }))},
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

} // namespace

Json sweep_design_space_schema() {
    return sweep_document().schema();
}

std::string to_json(const SweepSummary& summary, PlainView) {
    return sweep_document().text(summary);
}

} // namespace archsim
