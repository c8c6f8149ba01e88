#include "fit/report/serving_peers_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace archsim {

namespace {

constexpr double kPeerPercent = 100;

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

/// "7.4 / 7.9", median and mean in per cent.
Cell error_cell(const std::vector<double>& errors) {
    if (errors.empty())
        return {"-"};
    const std::size_t half = errors.size() / 2;
    const double median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
    const double mean =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    return {fmt::format("{:.1f} / {:.1f}", kPeerPercent * median, kPeerPercent * mean), median};
}

Table errors_by_simulator(const ServingPeers& peers) {
    Table table;
    table.title = "Error of what clients wait for, by simulator (median / mean over runs)";
    table.columns = {{"Simulator", "", "simulator"}, {"Runs", "", "runs", Align::right}};
    for (const auto& [key, title] : kPeerMetrics)
        table.columns.push_back({title, "%", std::string(key) + "_error", Align::right});
    for (std::size_t who = 0; who < peers.simulators.size(); ++who) {
        std::vector<Cell> row{{peers.simulators[who]},
                              whole_cell(errors_of(peers, who, kPeerMetrics[0].first).size())};
        for (const auto& [key, title] : kPeerMetrics)
            row.push_back(error_cell(errors_of(peers, who, key)));
        table.rows.push_back(std::move(row));
    }
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
    Table table;
    table.title = "Every run (ms)";
    table.columns = {{"Run", "", "run"},
                     {"Model", "", "model"},
                     {"Metric", "", "metric"},
                     {"Measured", "", "measured_ms", Align::right}};
    for (const std::string& name : peers.simulators)
        table.columns.push_back({name, "", name, Align::right});
    for (const PeerRow& row : peers.rows) {
        std::vector<Cell> cells{{row.run},
                                {row.model},
                                {title_of_metric(row.metric)},
                                {format_number(row.measured), row.measured}};
        for (const auto& value : row.predicted)
            cells.push_back(value ? Cell{format_number(*value), *value} : Cell{"-"});
        table.rows.push_back(std::move(cells));
    }
    return table;
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
