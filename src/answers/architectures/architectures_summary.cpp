// Recommendations:
//   Best for Energy:      KPU, 8.68 mJ
//   Best for Latency:     GPU, 357 us (tied with KPU)
//
// Architecture  Device  Energy  Latency  Memory  Util  vs GPU                          Best

#include "answers/architectures/architectures.hpp"

#include "core/lists.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace archsim {

/// "token energy"
static std::string key_words(const Metric& metric) {
    std::string text = metric.key;
    std::ranges::replace(text, '_', ' ');
    return text;
}

/// The metrics of the answer: those asked for, of language models where they answer prompts.
static const MetricTable& summary_metrics(const ArchitectureComparison& c) {
    return *shown_metrics(c.results, {c.request.metrics, c.request.decision.cost}).metrics;
}

/// The first comparison: energy and time of an inference, or of a token.
struct ComparedPair {
    const Metric *energy, *time;
};
static ComparedPair compared_pair(const ArchitectureComparison& c) {
    return compares_generation(c.results) ? ComparedPair{&metric::token_energy, &metric::token_time}
                                          : ComparedPair{&metric::energy, &metric::latency};
}

/// The metrics that have a winner: the metric asked for, then those of the table that recommend, in its
/// order.
static std::vector<const Metric*> recommended(const ArchitectureComparison& c) {
    const Metric& asked = shown_metric(c.results, *c.request.metric);
    std::vector<const Metric*> list = {&asked};
    for (const Metric* m : summary_metrics(c).rows())
        if (m->recommend && *m != asked && *m != metric::token_time && *m != metric::total_token_rate)
            list.push_back(m); // the winner of the last two is that of tokens per second
    return list;
}

/// The winner is no better than any other.
static bool all_equal(const ArchitectureComparison& c, const Metric& metric) {
    std::vector<double> values;
    for (const Result& result : c.results)
        if (const auto value = value_of(result, metric, c.request.decision.cost))
            values.push_back(*value);
    return values.size() > 1 &&
           std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

/// "; estimated better, but projected: KPU, 8.99 ms".
static std::string unranked_text(const ArchitectureComparison& c, const Winner& winner, const Metric& m) {
    if (!winner.projected)
        return {};
    const Result& r = c.results[*winner.projected];
    return fmt::format("; estimated better, but {}: {}, {}", name_of(standing_of(r.estimate)),
                       c.labels[*winner.projected],
                       format_value(m, *value_of(r, m, c.request.decision.cost)));
}

/// "H100, 465 us (tied with A100)"; "too close to call: H100, A100"; "none, of what is projected KPU, 8.99
/// ms".
static std::string winner_text(const ArchitectureComparison& c, const Winner& winner, const Metric& m) {
    const Result& best = c.results[winner.best];
    const std::string named = fmt::format("{}, {}", c.labels[winner.best],
                                          format_value(m, *value_of(best, m, c.request.decision.cost)));
    if (!winner.leads)
        return fmt::format("none; {}: {}", name_of(standing_of(best.estimate)), named);
    const auto label = [&](std::size_t i) { return c.labels[i]; };
    const std::string tied = joined(winner.tied, label);
    return (!winner.close.empty() ? fmt::format("too close to call: {} ({})", joined(winner.close, label),
                                                format_value(m, *value_of(best, m, c.request.decision.cost)))
                                  : named + (tied.empty() ? "" : " (tied with " + tied + ")")) +
           unranked_text(c, winner, m);
}

/// "programmable: CPU, GPU, KPU; fixed function: TPU": what families say of themselves.
static std::string programmability_text(const ArchitectureComparison& c) {
    NamesByText groups; // in the order of the table
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (c.results[i].device)
            for (const FamilyProperty& own : c.results[i].device->family.row().properties)
                if (own.aspect == kProgrammability)
                    names_under(own.text, groups).push_back(c.labels[i]);
    return joined(
        groups,
        [](const auto& group) { return fmt::format("{}: {}", group.first, fmt::join(group.second, ", ")); },
        "; ");
}

static Facts recommendations(const ArchitectureComparison& c) {
    Facts facts;
    for (const Metric* m : recommended(c)) {
        const auto winner = find_winner(c.results, *m, c.request.decision.cost);
        if (!winner)
            continue;
        facts.add(*m == metric::balance ? "Best Balance" : "Best for " + m->title,
                  all_equal(c, *m) ? "all equal, " + format_value(*m, *value_of(c.results[winner->best], *m,
                                                                                c.request.decision.cost))
                                   : winner_text(c, *winner, *m));
    }
    if (std::string text = programmability_text(c); !text.empty())
        facts.add("Programmability", std::move(text));
    return facts;
}

static std::string best_at(const ArchitectureComparison& c, std::size_t index) {
    return joined(recommended(c), [&](const Metric* m) {
        const auto winner = find_winner(c.results, *m, c.request.decision.cost);
        const bool best = winner && winner->leads && winner->close.empty() && winner->best == index;
        return best && !all_equal(c, *m) ? key_words(*m) : std::string();
    });
}

using SummaryColumns = std::vector<ColumnOf<std::size_t>>; ///< of indices into the results

/// A column of what only estimates have.
static void add_estimated(const ArchitectureComparison& c, SummaryColumns& columns, Column column,
                          std::function<Cell(std::size_t)> cell) {
    columns.push_back({std::move(column), [&c, cell = std::move(cell)](const std::size_t& i) {
                           return c.results[i].ok() ? cell(i) : Cell{};
                       }});
}

/// Metrics of tokens have the short headings of their tables: with them the table fits a screen.
static Column summary_column(const ArchitectureComparison& c, const Metric& m, int priority) {
    Column column = column_of(m);
    column.heading = m == metric::utilization ? m.heading : m.title;
    column.unit.clear();
    column.priority = m == shown_metric(c.results, *c.request.metric) ? 0 : priority;
    if (compares_generation(c.results)) {
        column.heading = m.heading;
        column.unit = m == metric::token_energy ? "per token" : "";
    }
    return column;
}

static void add_summary_metric(const ArchitectureComparison& c, SummaryColumns& columns, const Metric& m,
                               int priority) {
    if (any_value(c.results, m, c.request.decision.cost))
        add_estimated(c, columns, summary_column(c, m, priority), [&](std::size_t i) {
            return value_cell(m, value_of(c.results[i], m, c.request.decision.cost));
        });
}

/// Ratio to the baseline's value.
static void add_ratio(const ArchitectureComparison& c, SummaryColumns& columns, const Metric& m) {
    const auto base =
        c.baseline ? value_of(c.results[*c.baseline], m, c.request.decision.cost) : std::nullopt;
    add_estimated(
        c, columns,
        {"vs " + (c.baseline ? c.labels[*c.baseline] : "none"),
         m == metric::token_energy ? "energy"
         : m == metric::token_time ? "time"
                                   : m.key,
         m.key + "_vs_baseline", Align::right, m == metric::token_energy ? 2 : 1,
         column_of(m).best}, // the values themselves stand beside it
        [&, base](std::size_t i) {
            if (c.baseline == i)
                return Cell{"baseline", 1.0, Tone::muted};
            const auto value = value_of(c.results[i], m, c.request.decision.cost);
            return value && base && *base > 0 ? Cell{format_ratio(*value / *base), *value / *base} : Cell{};
        });
}

static Table comparison_table(const ArchitectureComparison& c) {
    const auto [energy, time] = compared_pair(c);
    const std::array first = {energy, time, &metric::memory,
                              compares_generation(c.results) ? &metric::first_token : &metric::utilization};
    constexpr int kOther = 3;
    SummaryColumns columns = {
        {{"Architecture", "", "architecture"}, [&](const std::size_t& i) { return Cell{c.labels[i]}; }},
        {{"Device", "", "hardware"}, [&](const std::size_t& i) {
             return Cell{marked(hardware_label(c.results[i]), MarkedCell::hardware, c.results[i])};
         }}};
    for (const Metric* m : first)
        add_summary_metric(c, columns, *m, 0);
    for (const Metric* m : {energy, time})
        add_ratio(c, columns, *m);
    add_estimated(
        c, columns, {"Precision", "", "executed_precision", Align::left, mixed_formats(c.results) ? 0 : 1},
        [&](std::size_t i) {
            return Cell{marked(multiplied_format(c.results[i]), MarkedCell::precision, c.results[i])};
        });
    // The recommendations above the table say the same: only failures need it at every width.
    const bool all_run = std::ranges::all_of(c.results, &Result::ok);
    columns.push_back({{"Best for", "", "best_for", Align::left, all_run ? 2 : 0}, [&](const std::size_t& i) {
                           const Result& r = c.results[i];
                           return r.ok() ? Cell{best_at(c, i), {}, Tone::good, {}, CellKind::text}
                                         : toned_cell(status_words(r.estimate), Tone::bad);
                       }});
    for (const Metric* m : summary_metrics(c).rows())
        if (std::ranges::none_of(first, [&](const Metric* shown) { return *shown == *m; }))
            add_summary_metric(c, columns, *m, std::max(kOther, m->priority));
    columns.push_back(
        evidence_column<std::size_t>([&](const std::size_t& i) { return evidence_of(c.results[i]); }));
    add_estimated(c, columns, {"Stack", "", "runtime", Align::left, 4},
                  [&](std::size_t i) { return Cell{runtime_label(c.results[i])}; });
    const std::vector<std::size_t> rows = indices(c.results.size());
    Table table = table_of({}, columns, rows);
    std::set<std::string> notes;
    MarkNotes marks;
    for (const std::size_t i : rows)
        if (c.results[i].ok())
            add_mark_notes(c.results[i], c.labels[i], marks);
        else
            notes.insert(fmt::format("{}: {}", c.labels[i], c.results[i].estimate.reason));
    table.notes = unranked_lines_of(marks);
    if (std::string basis = cost_basis(c.results, c.request.decision.cost); !basis.empty())
        table.notes.emplace_back(std::move(basis), metric::cost.field);
    append(table.notes, notes);
    return table;
}

struct Placed {
    double value = 0;
    std::size_t index = 0;
};
/// Results that have a value, best first: what was measured, where at least two were. Projections win
/// nothing.
static std::vector<Placed> placed_by(const ArchitectureComparison& c, const Metric& metric) {
    std::vector<Placed> order;
    const bool measured_alone =
        std::ranges::count_if(c.results, [](const Result& r) { return r.ok() && may_lead(r.estimate); }) >= 2;
    for (const Rank& rank : rank_results(c.results, metric, c.request.decision.cost))
        if (const auto value = value_of(c.results[rank.result], metric, c.request.decision.cost);
            value && (!measured_alone || may_lead(c.results[rank.result].estimate)))
            order.push_back({*value, rank.result});
    return order;
}

static std::string unless_tied(const ArchitectureComparison& c, const Metric& metric, std::size_t a,
                               std::size_t b) {
    const CostOptions& conditions = c.request.decision.cost;
    return tied(metric, c.results[a], *measure_of(c.results[a], metric, conditions), c.results[b],
                *measure_of(c.results[b], metric, conditions))
               ? "; by odds of less than 3 to 1"
               : "";
}

static Bullets key_insights(const ArchitectureComparison& c) {
    constexpr double kHardlyLower = 0.99; // of its own: a clock above that is not worth a word
    Bullets bullets;
    const auto [by_energy, by_time] = compared_pair(c);
    const auto energy = placed_by(c, *by_energy), latency = placed_by(c, *by_time);
    if (energy.size() < 2)
        return bullets;
    const auto against = [&](const std::vector<Placed>& order, const Metric& metric) {
        return fmt::format("({} against {}){}", format_value(metric, order[0].value),
                           format_value(metric, order[1].value),
                           unless_tied(c, metric, order[0].index, order[1].index));
    };
    const auto first_two = [&](const std::vector<Placed>& order, const Metric& metric) {
        bullets.items.push_back(fmt::format("{} {} {} {}.", marked_label(c, order[0].index),
                                            ratio_text(metric, order[0].value / order[1].value),
                                            marked_label(c, order[1].index), against(order, metric)));
    };
    first_two(energy, *by_energy);
    first_two(latency, *by_time);
    const std::size_t frugal = energy.front().index, fast = latency.front().index;
    const auto ratio = [&](const Metric& metric) {
        return *value_of(c.results[frugal], metric) / *value_of(c.results[fast], metric);
    };
    if (frugal != fast && value_of(c.results[fast], *by_energy))
        bullets.items.push_back(fmt::format("Trade-off: {} {} {} and {} it.", marked_label(c, frugal),
                                            ratio_text(*by_energy, ratio(*by_energy)), marked_label(c, fast),
                                            ratio_text(*by_time, ratio(*by_time))));
    else if (frugal == fast)
        bullets.items.push_back(fmt::format("No trade-off: {} has the best {} and {}.", marked_label(c, fast),
                                            key_words(*by_energy), key_words(*by_time)));
    for (const Placed& placed : latency) {
        const Estimate& e = c.results[placed.index].estimate;
        const int total = std::max(1, e.compute_bound + e.memory_bound + e.overhead_bound);
        if (e.overhead_bound * 2 > total)
            bullets.items.push_back(
                fmt::format("{} spends more on starting kernels and layers than on their work in {} of {} "
                            "subgraphs; a larger batch spreads that cost.",
                            c.labels[placed.index], e.overhead_bound, total));
        if (e.power_limited)
            bullets.items.push_back(
                e.clock_ratio < kHardlyLower
                    ? fmt::format("{} is at its power limit: its clock drops to {}.", c.labels[placed.index],
                                  format_percent(e.clock_ratio))
                    : fmt::format("{} is just at its power limit.", c.labels[placed.index]));
    }
    return bullets;
}

static void add_next_steps(const ArchitectureComparison& c, Report& report) {
    const auto energy = placed_by(c, metric::energy), latency = placed_by(c, metric::latency);
    if (latency.empty())
        return;
    add_blocks(report, advice_blocks(c.tried, c.results, c.labels), Heading{3, "Next steps:"});
    const auto chosen = c.decision ? winner_within(c.results, *c.request.metric, *c.decision) : std::nullopt;
    const std::string& fast = c.labels[chosen ? chosen->best : latency.front().index];
    add_blocks(report, Command{tool_command(c, "--level detailed --architecture " + fast)},
               Command{tool_command(c, "--level subgraph")});
    if (latency.size() < 2)
        return;
    const std::string& frugal = c.labels[energy.front().index];
    const std::string& other = frugal == fast ? c.labels[energy[1].index] : fast;
    report.blocks.push_back(
        Command{tool_command(c, fmt::format("--explain-difference {} {} --metric energy", other, frugal))});
}

void add_summary(const ArchitectureComparison& c, Report& report) {
    const bool missed = c.decision && !c.decision->request.constraints.empty() &&
                        std::ranges::none_of(c.decision->qualifies, [](bool qualifies) { return qualifies; });
    add_blocks(report, Heading{3, missed ? "Recommendations without the limits:" : "Recommendations:"},
               recommendations(c), comparison_table(c));
    if (Bullets insights = key_insights(c); !insights.items.empty())
        add_blocks(report, Heading{3, "Key Insights:"}, std::move(insights));
    add_next_steps(c, report);
}

} // namespace archsim
