#include "answers/compare/compare_models_report.hpp"
#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace archsim {

using Row = ShownPercentiles;

/// A queue that grows without bound has none.
static ColumnOf<Row> percentile_column(const char* heading, const char* key, double RunPercentiles::*which) {
    return {least_best(heading, "ms", key), 1e-3, [which](const Row& row) -> std::optional<double> {
                const ResultPercentiles& found = row.found;
                if (!found.queued)
                    return found.run_to_run.*which;
                return known(!found.queued->overloaded, found.queued->latency.*which);
            }};
}

static std::vector<ColumnOf<Row>> percentile_columns(bool queued) {
    std::vector<ColumnOf<Row>> columns = {
        {{"Hardware", "", "hardware"}, [](const Row& row) { return hardware_label(*row.result); }},
        {{"Stack", "", "runtime"}, [](const Row& row) { return row.result->runtime->id; }},
        percentile_column("P50", "p50_s", &RunPercentiles::p50),
        percentile_column("P90", "p90_s", &RunPercentiles::p90),
        percentile_column("P99", "p99_s", &RunPercentiles::p99),
        percentile_column("P99.9", "p999_s", &RunPercentiles::p999)};
    if (queued)
        append(columns, where<Row>([](const Row& row) { return row.found.queued.has_value(); },
                                   {{least_best("Wait", "ms", "mean_wait_s"), 1e-3,
                                     [](const Row& row) {
                                         return known(!row.found.queued->overloaded,
                                                      row.found.queued->mean_wait_s);
                                     }},
                                    {least_best("Busy", "%", "utilization"),
                                     [](const Row& row) {
                                         return row.found.queued->overloaded
                                                    ? Cell{"overloaded", {}, Tone::bad}
                                                    : cell_in(0.01, row.found.queued->utilization);
                                     }},
                                    {most_best("Saturated rate", "per s", "capacity_per_s"), 1,
                                     [](const Row& row) { return row.found.queued->capacity_per_s; }}}));
    else
        columns.emplace_back(
            interval_column("Model error", "90 %", "latency_low_s", "latency_high_s"), [](const Row& row) {
                const Estimate& e = row.result->estimate;
                return interval_cell(1e-3, e.latency_interval.low, e.latency_s, e.latency_interval.high);
            });
    append(columns,
           {{most_best("Runs", "", "runs", 1), 1, [](const Row& row) { return row.found.spread.rows; }},
            {interval_column("P99/P50", "", "p99_over_p50_least", "p99_over_p50_most", 2),
             [](const Row& row) {
                 const LatencySpread& s = row.found.spread;
                 return Cell{fmt::format("{:.3f}-{:.3f}", 1 + s.least, 1 + s.most),
                             {},
                             Tone::plain,
                             {},
                             CellKind::number,
                             CellInterval{1 + s.least, 1 + s.least, 1 + s.most}};
             }},
            evidence_column<Row>([](const Row& row) { return evidence_of(*row.result); }),
            {{"Spread from", "", "spread_basis", Align::left, 2},
             [](const Row& row) { return row.found.spread.basis; }}});
    return columns;
}

Table percentile_table(std::span<const Result> results, const PercentileRequest& request) {
    std::vector<Row> rows = shown_percentiles(results, request);
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
        return a.result->estimate.latency_s < b.result->estimate.latency_s;
    });
    const bool queued = request.rate_per_s > 0;
    Table table = table_of(queued ? fmt::format("Latency Percentiles at {} Arrivals per Second",
                                                format_number(request.rate_per_s))
                                  : std::string("Latency Percentiles (Run to Run)"),
                           percentile_columns(queued), rows);
    for (const auto& [result, found, rate_per_s] : rows)
        if (found.queued && found.queued->overloaded)
            table.notes.push_back(
                fmt::format("{}: overloaded, the queue grows without bound above {} per second",
                            hardware_label(*result), format_number(found.queued->capacity_per_s)));
    table.notes.emplace_back(
        "the estimate is taken as the median; P99 as published runs of the same stack and "
        "kind of device lie above theirs (MLPerf single-stream logs, AWS Neuron tables)");
    if (queued)
        table.notes.emplace_back("items arrive at random (Poisson) and wait until the device is free; up to "
                                 "a batch of those that wait run together");
    else
        table.notes.emplace_back(
            "the 90 % interval is how wrong the estimate may be, not how much runs differ");
    return table;
}

std::vector<ShownPercentiles> shown_percentiles(std::span<const Result> results,
                                                const PercentileRequest& request) {
    std::vector<ShownPercentiles> shown;
    for (const Result& r : results)
        if (auto found = percentiles(r, request))
            shown.push_back({&r, std::move(*found), request.rate_per_s});
    return shown;
}

Members<ShownPercentiles> percentile_members() {
    using S = ShownPercentiles;
    const Members<RunPercentiles> run = {{"p50_s", "", &RunPercentiles::p50},
                                         {"p90_s", "", &RunPercentiles::p90},
                                         {"p99_s", "", &RunPercentiles::p99},
                                         {"p999_s", "", &RunPercentiles::p999}};
    const auto if_stable = [](double QueuedPercentiles::*number) {
        return [number](const S& s) { return known(!s.found.queued->overloaded, (*s.found.queued).*number); };
    };
    const Members<S> queue = {
        {"rate_per_s", "items that arrive", &S::rate_per_s},
        {"latency", "with the wait; null: overloaded",
         [](const S& s) { return s.found.queued->overloaded ? nullptr : &s.found.queued->latency; }, run},
        {"mean_wait_s", "", if_stable(&QueuedPercentiles::mean_wait_s)},
        {"utilization", "part of the time that the device works", if_stable(&QueuedPercentiles::utilization)},
        {"capacity_per_s", "above it the queue grows without bound",
         [](const S& s) { return s.found.queued->capacity_per_s; }},
        {"overloaded", "", [](const S& s) { return s.found.queued->overloaded; }}};
    return {{"model", "", [](const S& s) { return s.result->model->name; }},
            {"hardware", "", [](const S& s) { return s.result->device->id; }},
            {"power_mode", "", [](const S& s) { return s.result->power_mode; }},
            {"runtime", "software stack", [](const S& s) { return s.result->runtime->id; }},
            evidence_member<S>([](const S& s) { return evidence_of(*s.result); }),
            {"run_to_run", "the estimate is taken as the median",
             [](const S& s) { return s.found.run_to_run; }, run},
            {"runs", "published runs behind the spread", [](const S& s) { return s.found.spread.rows; }},
            {"p99_over_p50", "least and most of these runs",
             [](const S& s) {
                 return std::array{1 + s.found.spread.least, 1 + s.found.spread.most};
             }},
            {"basis", "which runs they are", [](const S& s) { return s.found.spread.basis; }},
            {"queued", "where items arrive at a rate: with the wait in the queue",
             [](const S& s) { return s.found.queued ? &s : nullptr; }, queue}};
}

} // namespace archsim
