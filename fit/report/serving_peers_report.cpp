#include "fit/report/serving_peers_report.hpp"

#include "fit/report/statistic_cells.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace archsim {

namespace {

/// Metrics in the order of their columns, with their titles.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kPeerMetrics = {
    {{"e2e_mean_ms", "E2E mean"},
     {"e2e_p99_ms", "E2E P99"},
     {"ttft_mean_ms", "TTFT mean"},
     {"ttft_p99_ms", "TTFT P99"},
     {"itl_mean_ms", "ITL mean"}}};

/// "TTFT mean" of "ttft_mean_ms"; others as they are.
std::string title_of_metric(const std::string& metric) {
    for (const auto& [key, title] : kPeerMetrics)
        if (key == metric)
            return title;
    return metric;
}

std::vector<double> errors_of(const ServingPeers& peers, std::size_t simulator, std::string_view metric) {
    std::vector<double> errors;
    for (const PeerRow& row : peers.rows)
        if (row.metric == metric && row.predicted[simulator])
            errors.push_back(std::abs(*row.predicted[simulator] - row.measured) / row.measured);
    std::sort(errors.begin(), errors.end());
    return errors;
}

Table errors_by_simulator(const ServingPeers& peers) {
    using Index = std::size_t; // of simulators
    std::vector<ColumnOf<Index>> columns = {
        {{"Simulator", "", "simulator"}, [&](Index who) { return peers.simulators[who]; }},
        {most_best("Runs", "", "runs"), 1,
         [&](Index who) { return errors_of(peers, who, kPeerMetrics[0].first).size(); }}};
    for (const auto& [key, title] : kPeerMetrics)
        columns.emplace_back(
            least_best(title, "%", std::string(key) + "_error"),
            [&peers, key = key](Index who) { return error_cell(errors_of(peers, who, key)); });
    Table table = table_of("Error of what clients wait for, by simulator (median / mean over runs)", columns,
                           indices(peers.simulators.size()));
    table.notes.emplace_back("E2E: from the request to the last token; TTFT: time to first token; ITL: time "
                             "between tokens; P99: 99 of 100 requests are no slower.");
    table.notes.emplace_back(fmt::format(
        "Predictions of others are those that they published for these runs; BLIS was trained on such runs. "
        "Of "
        "archsim one number rests on these rows, the time of a request outside the engine: they ask for {}, "
        "and "
        "each model for {} more or less than the others do. \"Model left out\" takes the others' for each.",
        format_time(peers.request_s), format_time(peers.request_error_s)));
    return table;
}

Table every_row(const ServingPeers& peers) {
    using R = PeerRow;
    constexpr double kMilli = 1e-3;
    std::vector<ColumnOf<R>> columns = {
        {{"Run", "", "run"}, &R::run},
        {{"Model", "", "model"}, &R::model},
        {{"Metric", "", "metric"}, [](const R& r) { return title_of_metric(r.metric); }},
        {least_best("Measured", "ms", "measured_s"), kMilli, [](const R& r) { return r.measured * kMilli; }}};
    for (std::size_t i = 0; i < peers.simulators.size(); ++i)
        columns.emplace_back(
            least_best(peers.simulators[i], "ms", peers.simulators[i] + "_s"), kMilli, [i](const R& r) {
                return r.predicted[i] ? std::optional(*r.predicted[i] * kMilli) : std::nullopt;
            });
    return table_of("Every run", columns, peers.rows);
}

} // namespace

Report describe_serving_peers(const ServingPeers& peers) {
    Report report;
    report.title = "Served language models: measured and simulated";
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(errors_by_simulator(peers));
    if (!peers.problems.empty())
        report.blocks.emplace_back(Bullets{peers.problems});
    report.blocks.emplace_back(every_row(peers));
    return report;
}

} // namespace archsim
