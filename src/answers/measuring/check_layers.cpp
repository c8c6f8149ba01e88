#include "answers/measuring/check_report.hpp"
#include "report/blocks/cells.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace archsim {

namespace {

constexpr double kMilli = 1e3;

Cell ratio_cell(double predicted, double measured) {
    if (measured <= 0)
        return {"-"};
    const double ratio = predicted / measured;
    constexpr double kFar = 1.5; // the eye should find what is off by half
    return {fmt::format("{:.2f}", ratio), ratio, ratio > kFar || ratio < 1 / kFar ? Tone::bad : Tone::plain};
}

Chart chart_of(const LayerProfile& profile, const std::vector<std::size_t>& order, std::size_t rows) {
    Chart chart;
    chart.kind = ChartKind::bar;
    chart.title = "Predicted and measured time by subgraph";
    chart.x_title = "subgraph";
    chart.y_title = "ms";
    ChartSeries predicted{"predicted", {}}, measured{"measured", {}};
    for (std::size_t i = 0; i < rows; ++i) {
        const ProfiledSubgraph& subgraph = profile.subgraphs[order[i]];
        predicted.points.push_back({subgraph.name, 0, subgraph.predicted_s * kMilli});
        measured.points.push_back({subgraph.name, 0, subgraph.measured_s * kMilli});
    }
    chart.series = {std::move(predicted), std::move(measured)};
    return chart;
}

} // namespace

Report describe(const LayerProfile& profile, std::size_t rows) {
    Report report;
    report.title = fmt::format("Layers: predicted on {} and measured by {}", profile.hardware, profile.tool);
    report.blocks.push_back(Heading{2, report.title});
    std::vector<std::size_t> order(profile.subgraphs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return profile.subgraphs[a].measured_s > profile.subgraphs[b].measured_s;
    });
    const std::size_t shown = rows == 0 ? order.size() : std::min(rows, order.size());
    Table table;
    table.columns = {{"Subgraph", "", "subgraph"},
                     {"Kind", "", "kind", Align::left, 1},
                     {"Predicted", "ms", "predicted_s", Align::right},
                     {"Measured", "ms", "measured_s", Align::right},
                     {"Ratio", "", "ratio", Align::right},
                     {"Layers", "", "layers", Align::right, 2}};
    const auto add = [&](const std::string& name, const std::string& kind, double predicted, double measured,
                         std::size_t layers) {
        table.rows.push_back({{name},
                              {kind},
                              cell_in(1e-3, predicted),
                              measured > 0 ? cell_in(1e-3, measured) : Cell{"-"},
                              ratio_cell(predicted, measured),
                              {std::to_string(layers), static_cast<double>(layers)}});
    };
    for (std::size_t i = 0; i < shown; ++i) {
        const ProfiledSubgraph& subgraph = profile.subgraphs[order[i]];
        add(subgraph.name, subgraph.kind, subgraph.predicted_s, subgraph.measured_s, subgraph.layers.size());
    }
    double unmatched = 0;
    for (const LayerTime& layer : profile.unmatched)
        unmatched += layer.seconds;
    if (!profile.unmatched.empty())
        table.rows.push_back(
            {{fmt::format("layers of no subgraph ({})", profile.unmatched.front().name)},
             {""},
             {"-"},
             cell_in(1e-3, unmatched),
             {"-"},
             {std::to_string(profile.unmatched.size()), static_cast<double>(profile.unmatched.size())}});
    table.rows.push_back({{"all", std::nullopt, Tone::strong},
                          {""},
                          cell_in(1e-3, profile.predicted_s),
                          cell_in(1e-3, profile.measured_s),
                          ratio_cell(profile.predicted_s, profile.measured_s),
                          {""}});
    if (shown < order.size())
        table.notes.push_back(fmt::format("{} further subgraphs", order.size() - shown));
    report.blocks.push_back(std::move(table));
    report.blocks.push_back(chart_of(profile, order, shown));
    return report;
}

} // namespace archsim
