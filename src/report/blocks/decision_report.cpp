#include "report/blocks/decision_report.hpp"

#include "report/answers/architectures.hpp"
#include "report/blocks/decision_json.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

bool at_least(const Constraint& constraint) {
    return constraint.metric->better == Better::higher;
}

std::string limit_text(const Constraint& constraint) {
    return fmt::format("{} {}", at_least(constraint) ? "at least" : "at most",
                       format_value(*constraint.metric, constraint.limit));
}

/// "12.5 % over", "3.20x the limit", "20.0 % short".
std::string shortfall(const Verdict& v) {
    if (at_least(v.constraint))
        return format_percent(-v.headroom) + " short";
    return v.headroom < -1 ? format_ratio(1 - v.headroom) + " the limit"
                           : format_percent(-v.headroom) + " over";
}

Cell verdict_cell(const Verdict& v) {
    if (!v.value)
        return {"unknown", {}, Tone::bad};
    if (!v.certain)
        return {fmt::format("{}, {:.0f} %", v.met ? "likely" : "unlikely", 100 * v.probability), v.headroom,
                v.met ? Tone::good : Tone::bad};
    const std::string text = v.met ? at_least(v.constraint) && v.headroom > 1
                                         ? "yes, " + format_ratio(1 + v.headroom) + " the limit"
                                         : "yes, " + format_percent(v.headroom) + " headroom"
                                   : "no, " + shortfall(v);
    return {text, v.headroom, v.met ? Tone::good : Tone::bad};
}

std::vector<std::string> names(const std::vector<std::size_t>& list, const std::vector<std::string>& labels) {
    std::vector<std::string> text;
    for (std::size_t i : list)
        text.push_back(labels[i]);
    return text;
}

std::string recommendation(const Decision& d, std::span<const Result> results,
                           const std::vector<std::string>& labels) {
    const Metric& by = *d.request.preference;
    if (d.recommended) {
        const Winner& w = *d.recommended;
        const bool projected = results[w.best].estimate.projected;
        std::string text = fmt::format(
            "{}: {}, best by {} ({})", projected ? "No measured device qualifies; projected" : "Recommended",
            labels[w.best], by.noun, format_value(by, *value_of(results[w.best], by, d.request.cost)));
        if (w.projected)
            text += fmt::format("; projected to be better, not measured: {} ({})", labels[*w.projected],
                                format_value(by, *value_of(results[*w.projected], by, d.request.cost)));
        if (!w.tied.empty())
            text += fmt::format("; by odds of less than 3 to 1 against {}",
                                fmt::join(names(w.tied, labels), ", "));
        return text + ".";
    }
    if (!d.nearest)
        return "None qualifies: there is no estimate with all of these values.";
    const Verdict& v = d.verdicts[d.nearest->result][d.nearest->constraint];
    return fmt::format(
        "None qualifies; nearest is {}{}: {} of {}, {} required ({}).", labels[d.nearest->result],
        results[d.nearest->result].estimate.projected ? " (projected)" : "", v.constraint.metric->noun,
        format_value(*v.constraint.metric, *v.value), limit_text(v.constraint), shortfall(v));
}

} // namespace

std::vector<Block> decision_blocks(const Decision& d, std::span<const Result> results,
                                   const std::vector<std::string>& labels) {
    std::vector<Block> blocks;
    Table table;
    table.title = "Decision";
    table.columns = {{"Device", "", "device"}};
    for (const Constraint& c : d.request.constraints)
        table.columns.push_back({c.metric->title, limit_text(c), c.metric->key + "_headroom"});
    if (!d.request.constraints.empty())
        table.columns.push_back({"Qualifies", "", "qualifies"});
    if (!d.request.pareto.empty())
        table.columns.push_back({"Pareto front", "", "pareto"});
    bool uncertain = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
        std::vector<Cell> row{{labels[i]}};
        for (const Verdict& v : d.verdicts[i]) {
            row.push_back(verdict_cell(v));
            uncertain = uncertain || (v.value && !v.certain);
        }
        if (!d.request.constraints.empty())
            row.push_back({!d.qualifies[i]                 ? "no"
                           : results[i].estimate.projected ? "projected"
                                                           : "yes",
                           d.qualifies[i] ? 1.0 : 0.0, d.qualifies[i] ? Tone::good : Tone::bad});
        if (!d.request.pareto.empty())
            row.push_back({!d.on_front[i]                  ? ""
                           : results[i].estimate.projected ? "on it (projected)"
                                                           : "on it",
                           d.on_front[i] ? 1.0 : 0.0});
        table.rows.push_back(std::move(row));
    }
    if (uncertain)
        table.notes.emplace_back("likely, unlikely: the limit lies inside the 90 % interval of the estimate; "
                                 "with the probability that it is met");
    if (!d.request.pareto.empty()) {
        std::vector<std::string_view> nouns;
        for (const Metric* m : d.request.pareto)
            nouns.push_back(m->noun);
        table.notes.push_back(
            fmt::format("Pareto front of {}: no other device is better in one of them and as "
                        "good in the rest",
                        fmt::join(nouns, ", ")));
    }
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(Paragraph{recommendation(d, results, labels), Tone::strong});
    return blocks;
}

nlohmann::ordered_json decision_json(const Decision& d, const std::vector<std::string>& labels) {
    Json constraints = Json::array(), verdicts = Json::array(), pareto = Json::array();
    for (const Constraint& c : d.request.constraints)
        constraints.push_back({{"metric", c.metric->key},
                               {"bound", at_least(c) ? "min" : "max"},
                               {"limit", c.limit},
                               {"unit", c.metric->unit}});
    for (const Metric* m : d.request.pareto)
        pareto.push_back(m->key);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        Json list = Json::array();
        for (const Verdict& v : d.verdicts[i])
            list.push_back({{"metric", v.constraint.metric->key},
                            {"value", v.value ? Json(*v.value) : Json(nullptr)},
                            {"met", v.met},
                            {"certain", v.certain},
                            {"probability", v.value ? Json(v.probability) : Json(nullptr)},
                            {"headroom", std::isfinite(v.headroom) ? Json(v.headroom) : Json(nullptr)}});
        verdicts.push_back({{"device", labels[i]},
                            {"qualifies", static_cast<bool>(d.qualifies[i])},
                            {"pareto", static_cast<bool>(d.on_front[i])},
                            {"constraints", std::move(list)}});
    }
    return {{"constraints", constraints},
            {"pareto_metrics", pareto},
            {"preference", d.request.preference->key},
            {"verdicts", verdicts},
            {"recommended", d.recommended ? Json(labels[d.recommended->best]) : Json(nullptr)},
            {"tied", d.recommended ? Json(names(d.recommended->tied, labels)) : Json::array()},
            {"nearest",
             d.nearest ? Json{{"device", labels[d.nearest->result]},
                              {"metric", d.request.constraints[d.nearest->constraint].metric->key},
                              {"headroom", d.verdicts[d.nearest->result][d.nearest->constraint].headroom}}
                       : Json(nullptr)}};
}

} // namespace archsim
