#include "answers/measuring/check_report.hpp"
#include "report/blocks/columns.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace archsim {

namespace {

constexpr double kMilli = 1e3;

Cell ratio_cell(double predicted, double measured) {
    if (!(measured > 0) || std::isnan(predicted))
        return {};
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
    struct Row {
        Cell name;
        std::string kind;
        double predicted_s, measured_s; ///< NaN: there is none
        std::optional<std::size_t> layers;
    };
    std::vector<Row> timed;
    for (std::size_t i = 0; i < shown; ++i) {
        const ProfiledSubgraph& subgraph = profile.subgraphs[order[i]];
        timed.push_back({{subgraph.name},
                         subgraph.kind,
                         subgraph.predicted_s,
                         subgraph.measured_s,
                         subgraph.layers.size()});
    }
    double unmatched = 0;
    for (const LayerTime& layer : profile.unmatched)
        unmatched += layer.seconds;
    if (!profile.unmatched.empty())
        timed.push_back({{fmt::format("layers of no subgraph ({})", profile.unmatched.front().name)},
                         {},
                         NAN,
                         unmatched,
                         profile.unmatched.size()});
    timed.push_back({{"all", {}, Tone::strong}, {}, profile.predicted_s, profile.measured_s, {}});
    Table table = table_of<Row>(
        {},
        {{{"Subgraph", "", "subgraph"}, &Row::name},
         {{"Kind", "", "kind", Align::left, 1}, [](const Row& r) { return text_cell(r.kind); }},
         {least_best("Predicted", "ms", "predicted_s"), 1e-3, &Row::predicted_s},
         {least_best("Measured", "ms", "measured_s"), 1e-3,
          [](const Row& r) { return r.measured_s > 0 ? std::optional(r.measured_s) : std::nullopt; }},
         {least_best("Ratio", "", "ratio"),
          [](const Row& r) { return ratio_cell(r.predicted_s, r.measured_s); }},
         {most_best("Layers", "", "layers", 2),
          [](const Row& r) { return r.layers ? whole_cell(*r.layers) : text_cell(""); }}},
        timed);
    if (shown < order.size())
        table.notes.push_back(fmt::format("{} further subgraphs", order.size() - shown));
    report.blocks.push_back(std::move(table));
    report.blocks.push_back(chart_of(profile, order, shown));
    return report;
}

} // namespace archsim
