#include "answers/compare/model_ranking.hpp"
#include "report/blocks/cells.hpp"

#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace archsim {

namespace {

void add_percentiles(const RunPercentiles& p, std::vector<Cell>& row) {
    for (const double seconds : {p.p50, p.p90, p.p99, p.p999})
        row.push_back(cell_in(1e-3, seconds));
}

std::vector<Column> percentile_columns(bool queued) {
    std::vector<Column> columns = {
        {"Hardware", "", "hardware"},         {"Stack", "", "runtime"},
        {"P50", "ms", "p50_s", Align::right}, {"P90", "ms", "p90_s", Align::right},
        {"P99", "ms", "p99_s", Align::right}, {"P99.9", "ms", "p999_s", Align::right}};
    if (queued) {
        columns.push_back({"Wait", "ms", "mean_wait_s", Align::right});
        columns.push_back({"Busy", "%", "utilization", Align::right});
        columns.push_back({"Saturated rate", "per s", "capacity_per_s", Align::right});
    } else {
        columns.push_back({"Model error", "90 %", "interval", Align::right});
    }
    columns.push_back({"Runs", "", "runs", Align::right, 1});
    columns.push_back({"P99/P50", "", "p99_over_p50_range", Align::right, 2});
    columns.push_back({"Spread from", "", "spread_basis", Align::left, 2});
    return columns;
}

} // namespace

Table percentile_table(std::span<const Result> results, const PercentileRequest& request) {
    std::vector<std::pair<const Result*, ResultPercentiles>> rows;
    for (const Result& r : results)
        if (auto found = percentiles(r, request))
            rows.emplace_back(&r, std::move(*found));
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return a.first->estimate.latency_s < b.first->estimate.latency_s;
    });
    const bool queued = request.rate_per_s > 0;
    Table table;
    table.title = queued ? fmt::format("Latency Percentiles at {} Arrivals per Second",
                                       format_number(request.rate_per_s))
                         : "Latency Percentiles (Run to Run)";
    table.columns = percentile_columns(queued);
    for (const auto& [result, found] : rows) {
        const LatencySpread& spread = found.spread;
        std::vector<Cell> row{{hardware_label(*result)}, {result->runtime->id}};
        if (found.queued && found.queued->overloaded) {
            row.insert(row.end(), 5, Cell{"-"});
            row.push_back({"overloaded", {}, Tone::bad});
            row.push_back(cell_in(1, found.queued->capacity_per_s));
            table.notes.push_back(
                fmt::format("{}: overloaded, the queue grows without bound above {} per second",
                            hardware_label(*result), format_number(found.queued->capacity_per_s)));
        } else if (found.queued) {
            add_percentiles(found.queued->latency, row);
            row.push_back(cell_in(1e-3, found.queued->mean_wait_s));
            row.push_back(cell_in(0.01, found.queued->utilization));
            row.push_back(cell_in(1, found.queued->capacity_per_s));
        } else {
            add_percentiles(found.run_to_run, row);
            const auto& interval = result->estimate.latency_interval;
            constexpr double kMillisecond = 1e-3;
            row.push_back({fmt::format("{}-{}", format_number(interval.low / kMillisecond),
                                       format_number(interval.high / kMillisecond))});
        }
        row.push_back({fmt::format("{}", spread.rows), static_cast<double>(spread.rows)});
        row.push_back({fmt::format("{:.3f}-{:.3f}", 1 + spread.least, 1 + spread.most)});
        row.push_back({spread.basis});
        table.rows.push_back(std::move(row));
    }
    table.notes.emplace_back(
        "the estimate is taken as the median; P99 as published runs of the same stack and "
        "kind of device lie above theirs (MLPerf single-stream logs, AWS Neuron tables)");
    if (queued)
        table.notes.emplace_back(
            "items arrive at random (Poisson) and wait until the device is free; up to a batch "
            "of those that wait run together");
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
