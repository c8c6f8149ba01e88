#include "report/blocks/ranking_table.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "result/ranking.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

static bool at_least(const Constraint& constraint) {
    return constraint.metric->better == Better::higher;
}

static std::string limit_text(const Constraint& constraint) {
    return fmt::format("{} {}", at_least(constraint) ? "at least" : "at most",
                       format_value(*constraint.metric, constraint.limit));
}

/// "12.5 % over", "3.20x the limit", "20.0 % short".
static std::string shortfall(const Verdict& v) {
    if (at_least(v.constraint))
        return format_percent(-v.headroom) + " short";
    return v.headroom < -1 ? format_ratio(1 - v.headroom) + " the limit"
                           : format_percent(-v.headroom) + " over";
}

static Cell verdict_cell(const Verdict& v) {
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

static std::vector<std::string> names(const std::vector<std::size_t>& list,
                                      const std::vector<std::string>& labels) {
    return mapped(list, [&](std::size_t i) { return labels[i]; });
}

static std::string recommendation(const Decision& d, std::span<const Result> results,
                                  const std::vector<std::string>& labels) {
    const Metric& by = *d.request.preference;
    if (d.recommended) {
        const Winner& w = *d.recommended;
        const auto told = [&](std::size_t i) {
            return fmt::format("{} ({})", labels[i],
                               format_value(by, *value_of(results[i], by, d.request.cost)));
        };
        std::string text =
            !w.leads          ? fmt::format("None to recommend qualifies; {}: {}",
                                            name_of(standing_of(results[w.best].estimate)), told(w.best))
            : w.close.empty() ? fmt::format("Recommended: {}, best by {}", told(w.best), by.noun)
                              : fmt::format("Too close to call by {}: {}", by.noun,
                                            fmt::join(names(w.close, labels), ", "));
        if (w.projected)
            text += fmt::format("; estimated to be better, but {}: {}",
                                name_of(standing_of(results[*w.projected].estimate)), told(*w.projected));
        if (w.close.empty() && !w.tied.empty())
            text += fmt::format("; by odds of less than 3 to 1 against {}",
                                fmt::join(names(w.tied, labels), ", "));
        return text + ".";
    }
    if (!d.nearest)
        return "None qualifies: there is no estimate with all of these values.";
    const Verdict& v = d.verdicts[d.nearest->result][d.nearest->constraint];
    return fmt::format(
        "None qualifies; nearest is {}{}: {} of {}, {} required ({}).", labels[d.nearest->result],
        may_lead(results[d.nearest->result].estimate) ? "" : " (not ranked)", v.constraint.metric->noun,
        format_value(*v.constraint.metric, *v.value), limit_text(v.constraint), shortfall(v));
}

struct DecidedDevice {
    const LabelledDecision* all = nullptr;
    std::size_t index = 0;
};

const char* const kHeadroom = "room under a limit as a share of it; below 0: short by that much";

static Members<Verdict> limit_verdict_members() {
    return {{"metric", "", [](auto& v) { return v.constraint.metric->key; }},
            {"value", "null: not known", &Verdict::value},
            {"met", "", &Verdict::met},
            {"certain", "the whole 90 % interval is on the same side of the limit", &Verdict::certain},
            {"probability", "that the limit is met", [](auto& v) { return known(!!v.value, v.probability); }},
            {"headroom", kHeadroom, [](auto& v) { return finite(v.headroom); }}};
}

static Members<DecidedDevice> decided_device_members() {
    using D = DecidedDevice;
    return {
        {"device", "", [](const D& d) { return d.all->labels[d.index]; }},
        {"qualifies", "meets every limit",
         [](const D& d) -> bool { return d.all->decision->qualifies[d.index]; }},
        {"pareto", "is on the front", [](const D& d) -> bool { return d.all->decision->on_front[d.index]; }},
        {"constraints", "", [](const D& d) { return d.all->decision->verdicts[d.index]; },
         limit_verdict_members()}};
}

/// The one with the smallest miss.
static Members<LabelledDecision> nearest_members() {
    using D = LabelledDecision;
    return {{"device", "", [](const D& d) { return d.labels[d.decision->nearest->result]; }},
            {"metric", "",
             [](const D& d) {
                 return d.decision->request.constraints[d.decision->nearest->constraint].metric->key;
             }},
            {"headroom", kHeadroom, [](const D& d) {
                 const Decision::Nearest& nearest = *d.decision->nearest;
                 return finite(d.decision->verdicts[nearest.result][nearest.constraint].headroom);
             }}};
}

std::vector<Block> decision_blocks(const Decision& d, std::span<const Result> results,
                                   const std::vector<std::string>& labels) {
    std::vector<Block> blocks;
    using Index = std::size_t;
    std::vector<ColumnOf<Index>> columns = {{{"Device", "", "device"}, [&](Index i) { return labels[i]; }}};
    for (Index c = 0; c < d.request.constraints.size(); ++c) {
        const Constraint& limit = d.request.constraints[c];
        columns.emplace_back(Column{limit.metric->title, limit_text(limit), limit.metric->key + "_headroom"},
                             [&, c](Index i) { return verdict_cell(d.verdicts[i][c]); });
    }
    if (!d.request.constraints.empty())
        columns.emplace_back(Column{"Qualifies", "", "qualifies"}, [&](Index i) {
            return Cell{!d.qualifies[i] ? "no"
                        : may_lead(results[i].estimate)
                            ? std::string("yes")
                            : std::string(name_of(standing_of(results[i].estimate))),
                        d.qualifies[i] ? 1.0 : 0.0, d.qualifies[i] ? Tone::good : Tone::bad};
        });
    if (!d.request.pareto.empty())
        columns.emplace_back(Column{"Pareto front", "", "pareto"}, [&](Index i) {
            return Cell{d.on_front[i]                                       ? "on it"
                        : !results[i].ok() || may_lead(results[i].estimate) ? ""
                                                                            : "not ranked",
                        d.on_front[i] ? 1.0 : 0.0};
        });
    std::vector<Index> order; // those that qualify, then by what decides among them
    for (const Rank& rank : rank_results(results, *d.request.preference, d.request.cost))
        order.push_back(rank.result);
    std::stable_partition(order.begin(), order.end(), [&](Index i) { return bool{d.qualifies[i]}; });
    Table table = table_of("Decision", columns, order);
    const bool uncertain = std::ranges::any_of(d.verdicts, [](const auto& of_result) {
        return std::ranges::any_of(of_result, [](const Verdict& v) { return v.value && !v.certain; });
    });
    if (uncertain)
        table.notes.emplace_back("likely, unlikely: the limit lies inside the 90 % interval of the estimate; "
                                 "with the probability that it is met");
    if (!d.request.pareto.empty()) {
        const auto nouns = mapped(d.request.pareto, [](const Metric* m) { return m->noun; });
        table.notes.push_back(fmt::format(
            "Pareto front of {}: no other device is better in one of them and as good in the rest",
            fmt::join(nouns, ", ")));
    }
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(Paragraph{recommendation(d, results, labels), Tone::strong});
    return blocks;
}

Members<LabelledDecision> decision_members() {
    using D = LabelledDecision;
    return {{"constraints", "limits that were asked for",
             [](const D& d) { return d.decision->request.constraints; },
             Members<Constraint>{
                 {"metric", "", [](auto& c) { return c.metric->key; }},
                 {"bound", "", [](auto& c) { return at_least(c) ? "min" : "max"; }, OneOf{{"min", "max"}}},
                 {"limit", "", &Constraint::limit},
                 {"unit", "", [](auto& c) { return c.metric->unit; }}}},
            {"pareto_metrics", "of the front that was asked for",
             [](const D& d) {
                 return mapped(d.decision->request.pareto, [](const Metric* metric) { return metric->key; });
             }},
            {"preference", "metric that decides among those that meet the limits",
             [](const D& d) { return d.decision->request.preference->key; }},
            {"verdicts", "",
             [](const D& d) {
                 return mapped(indices(d.labels.size()), [&](std::size_t i) { return DecidedDevice{&d, i}; });
             },
             decided_device_members()},
            {"recommended", "null: none that may be named first qualifies",
             [](const D& d) {
                 const auto& winner = d.decision->recommended;
                 return winner && winner->leads ? std::optional(d.labels[winner->best]) : std::nullopt;
             }},
            {"probability", "that it is the best of those that qualify",
             [](const D& d) {
                 const auto& winner = d.decision->recommended;
                 return winner && winner->leads ? std::optional(winner->probability) : std::nullopt;
             }},
            {"tied", "devices that the estimates cannot tell from it",
             [](const D& d) {
                 const auto& winner = d.decision->recommended;
                 return winner ? names(winner->tied, d.labels) : std::vector<std::string>{};
             }},
            {"nearest", "the smallest miss where none qualifies",
             [](const D& d) { return d.decision->nearest ? &d : nullptr; }, nearest_members()}};
}

} // namespace archsim
