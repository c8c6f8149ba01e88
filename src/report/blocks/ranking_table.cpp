#include "report/blocks/ranking_table.hpp"

#include "core/lists.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace archsim {

struct RankingRow {
    const Result* result;
    Rank rank;
};
using RankingColumns = std::vector<ColumnOf<RankingRow>>;

/// A device stands in more than one row, told apart by its software stack.
static bool several_stacks(std::span<const Result> results) {
    std::set<std::string> devices;
    for (const Result& r : results)
        devices.insert(hardware_label(r) + " " + precision_name(r.conditions.precision));
    return devices.size() < results.size();
}

static bool is_estimated(const RankingRow& row) {
    return row.result->ok();
}

/// The metrics whose columns always show, or the others; the interval of what ranks stands beside its value.
static void add_ranking_metrics(RankingColumns& columns, std::span<const Result> results, const Metric& by,
                                const MetricView& view, bool always) {
    std::vector<const Metric*> metrics(view.metrics->rows().begin(), view.metrics->rows().end());
    if (std::ranges::none_of(metrics, [&](const Metric* m) { return *m == by; })) // what sorts is shown
        metrics.push_back(&by);
    for (const Metric* listed : metrics) {
        const Metric* m = &readable(*listed, results, view.conditions);
        const bool ranks = *m == by || *m == metric::latency;
        if ((m->priority == 0 || *m == by) != always || !any_value(results, *m, view.conditions) ||
            (*m != by && said_by_another(*m, results, view.conditions)))
            continue;
        const auto measure = [m, conditions = view.conditions](const RankingRow& row) {
            return measure_of(*row.result, *m, conditions);
        };
        Column column = column_of(*m);
        column.priority = *m == by ? 0 : column.priority;
        RankingColumns own = {{std::move(column), [m, measure](const RankingRow& row) {
                                   Cell cell = cell_of(*m, measure(row));
                                   cell.detail = detail_of(*row.result, *m);
                                   return cell;
                               }}};
        if (ranks && !m->low_field.empty())
            own.push_back(interval_column_of<RankingRow>(*m, 1, measure));
        append(columns, where(is_estimated, std::move(own)));
    }
}

static RankingColumns ranking_columns(std::span<const Result> results, const Metric& by,
                                      const MetricView& view) {
    RankingColumns columns = {
        {{"Hardware", "", "hardware"},
         [](const RankingRow& row) {
             return Cell{marked(hardware_label(*row.result), MarkedCell::hardware, *row.result)};
         }},
        {{"Type", "", "family", Align::left, 1},
         [](const RankingRow& row) { return Cell{family_label(*row.result)}; }}};
    add_ranking_metrics(columns, results, by, view, true);
    columns.push_back({least_best("Rank", "", "rank"), [](const RankingRow& row) {
                           const Result& r = *row.result;
                           if (!r.ok())
                               return Cell{status_words(r.estimate), {}, Tone::bad};
                           if (row.rank.place == 0)
                               return Cell{};
                           return Cell{rank_text(row.rank, r), row.rank.place,
                                       row.rank.place == 1 && may_lead(r.estimate) ? Tone::good
                                                                                   : Tone::plain};
                       }});
    columns.push_back(
        evidence_column<RankingRow>([](const RankingRow& row) { return evidence_of(*row.result); }));
    // Where formats differ every width shows them.
    append(columns, where<RankingRow>(is_estimated, {{{"Precision", "", "executed_precision", Align::left,
                                                       mixed_formats(results) ? 0 : 1},
                                                      [](const RankingRow& row) {
                                                          return marked(multiplied_format(*row.result),
                                                                        MarkedCell::precision, *row.result);
                                                      }}}));
    add_ranking_metrics(columns, results, by, view, false);
    columns.push_back({{"Stack", "", "runtime", Align::left, several_stacks(results) ? 0 : 3},
                       [](const RankingRow& row) { return Cell{runtime_label(*row.result)}; }});
    return columns;
}

Table ranking_table(std::span<const Result> results, const Metric& by, const MetricView& view, int top) {
    std::vector<RankingRow> rows;
    std::vector<const Result*> shown;
    std::string rest;
    MarkNotes marks;
    const std::vector<std::string> labels = hardware_labels(results);
    const PowerBoundary at = view.conditions.power_at.value_or(PowerBoundary::chip);
    std::vector<std::string> around; // a chip that was named alone draws nothing at the wall without it
    bool tied = false;
    for (const Rank& rank : rank_results(results, by, view.conditions)) {
        if (top > 0 && rows.size() == static_cast<std::size_t>(top)) {
            rest = fmt::format("and {} more: --top 0 shows all", results.size() - rows.size());
            break;
        }
        const Result& r = results[rank.result];
        rows.push_back({&r, rank});
        shown.push_back(&r);
        tied = tied || rank.tied;
        if (r.ok())
            add_mark_notes(r, labels[rank.result], marks);
        if (at == PowerBoundary::wall && r.ok() && r.machine && r.machine->host &&
            r.machine->host->idle.known())
            around.push_back(fmt::format("{} on {}", labels[rank.result], r.machine->host->id));
    }
    const bool at_a_rate =
        std::ranges::any_of(results, [](const Result& r) { return r.conditions.duty.every_s > 0; });
    Table table = table_of(fmt::format("Hardware Comparison (Sorted by {}), power at the {}{}", by.title,
                                       name_of(at), at_a_rate ? ", at the rate" : ""),
                           ranking_columns(results, by, view), rows);
    if (tied)
        table.notes.emplace_back("= tie: the first of these is better with a probability below 75 %", "rank");
    if (std::string basis = cost_basis(results, view.conditions);
        !basis.empty() && (by == metric::cost || view.metrics->find("cost")))
        table.notes.emplace_back(std::move(basis), column_of(metric::cost).key);
    if (!around.empty())
        table.notes.emplace_back(
            fmt::format("Power holds that of an idle computer: {}.", fmt::join(around, ", ")));
    append(table.notes, lines_of(marks));
    append(table.notes, failure_notes(shown));
    if (!rest.empty())
        table.notes.emplace_back(std::move(rest));
    return table;
}

} // namespace archsim
