#include "archsim/core/version.hpp"
#include "core/printable.hpp"
#include "report/answers/sweep_report.hpp"
#include "report/answers/sweep_verdict.hpp"
#include "report/render/json_document.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

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

Json winners_json(const SweepSummary& summary) {
    Json list = Json::array();
    for (const auto* winners : {&summary.winners, &summary.projected_winners})
        for (const BestRows& winner : *winners)
            for (const SweepRow& row : winner.rows())
                list.push_back({{"metric", winner.metric().key},
                                {"measured", !row.projected},
                                {"model", row.model},
                                {"point", row.point},
                                {"hardware", row.hardware},
                                {"value", *row.value(winner.metric())},
                                {"unit", winner.metric().unit}});
    return list;
}

Json sensitivities_json(const SweepSummary& summary) {
    if (!summary.sensitivity_of)
        return nullptr;
    Json list = Json::array();
    for (const AxisSensitivity& s : summary.sensitivities)
        list.push_back({{"axis", s.axis},
                        {"low_factor", s.low_factor},
                        {"high_factor", s.high_factor},
                        {"low_value", s.low_value},
                        {"own_value", s.own_value},
                        {"high_value", s.high_value}});
    return {{"metric", summary.sensitivity_of->key}, {"axes", std::move(list)}};
}

/// What is known of a point; null what is not.
Json facts_json(const SweepPointFacts& facts) {
    return {{"gain", facts.gain ? Json(*facts.gain) : Json(nullptr)},
            {"bound_by", facts.bound.empty() ? Json(nullptr) : Json(facts.bound)},
            {"bound_share", facts.bound.empty() ? Json(nullptr) : Json(facts.bound_share)}};
}

Json studied_json(const SweepSummary& summary) {
    Json list = Json::array();
    for (const auto& [point, facts] : summary.facts) {
        Json row = {{"point", point}};
        row.update(facts_json(facts));
        list.push_back(std::move(row));
    }
    return list;
}

Json curves_json(const SweepSummary& summary) {
    Json list = Json::array();
    for (const SweepCurve& curve : summary.curves) {
        Json points = Json::array();
        for (const SweepCurve::Point& p : curve.points) {
            Json point = {{"factor", p.factor}, {"value", p.value}};
            point.update(facts_json(p.facts));
            points.push_back(std::move(point));
        }
        list.push_back({{"model", curve.model},
                        {"hardware", curve.hardware},
                        {"part", curve.part},
                        {"knee", curve.knee ? Json(curve.points[*curve.knee].factor) : Json(nullptr)},
                        {"points", std::move(points)}});
    }
    return list;
}

Json next_json(const SweepSummary& summary) {
    Json list = Json::array();
    for (const NextFactor& step : summary.next)
        list.push_back({{"model", step.model},
                        {"part", step.part},
                        {"factor", step.factor},
                        {"value", step.value},
                        {"gain", step.gain}});
    return list;
}

Json front_json(const SweepSummary& summary) {
    if (!summary.front)
        return nullptr;
    return {{"metrics", {summary.front->first().key, summary.front->second().key}},
            {"rows", rows_json(summary.front->rows(), summary)}};
}

} // namespace

std::string to_json(const SweepSummary& summary, PlainView) {
    Json axes = Json::object();
    for (const SweepAxis& axis : summary.axes)
        axes[axis.name] = axis.factors;
    return document_text({{"schema", "archsim.sweep_design_space/1"},
                          {"version", version()},
                          {"verdict", {{"lines", sweep_lines(summary)}, {"best", winners_json(summary)}}},
                          {"axes", std::move(axes)},
                          {"points", summary.points},
                          {"estimated", summary.estimated},
                          {"sorted_by", summary.best.metric().key},
                          {"rows", rows_json(summary.best.rows(), summary)},
                          {"studied", studied_json(summary)},
                          {"curves", curves_json(summary)},
                          {"next", next_json(summary)},
                          {"pareto", front_json(summary)},
                          {"sensitivity", sensitivities_json(summary)}});
}

} // namespace archsim
