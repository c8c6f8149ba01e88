// ID   Operation            Kind         CPU       GPU       TPU       KPU   Winner
// 0    conv1                convolution  15.3 uJ   3.84 uJ   0.52 uJ   2.18 uJ  TPU, 4.2x
//
// A row is the smallest set of operators that all software stacks cover with whole subgraphs.

#include "answers/architectures/architectures.hpp"

#include "report/blocks/name_pattern.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/operation_shares.hpp"
#include "result/shown_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace archsim {

RegionWinner region_winner(const ArchitectureComparison& c, const CommonRegion& region) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < c.compared.size(); ++i)
        order.emplace_back(value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric), i);
    std::sort(order.begin(), order.end());
    const auto projected = [&](const auto& entry) {
        return c.results[c.compared[entry.second]].estimate.projected;
    };
    RegionWinner winner;
    if (projected(order.front()) && !std::all_of(order.begin(), order.end(), projected)) {
        winner.projected = order.front().second;
        std::erase_if(order, projected);
    }
    winner.best = order.front().second;
    if (order.size() > 1 && order[0].first > 0)
        winner.margin = order[1].first / order[0].first;
    return winner;
}

namespace {

constexpr std::size_t kLongestOperation = 44;

/// Sums per architecture: what it wins, and of which kinds most.
struct Wins {
    int regions = 0, projected = 0; ///< projected: would be better there than what was measured
    double operations = 0;
    std::map<OpKind, int> kinds;
};

Bullets win_summary(const ArchitectureComparison& c, const std::vector<Wins>& wins) {
    Bullets bullets;
    double operations = 0;
    for (const Wins& w : wins)
        operations += w.operations;
    std::vector<std::size_t> order(wins.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return wins[a].regions > wins[b].regions; });
    for (std::size_t i : order) {
        const Wins& w = wins[i];
        std::string kinds;
        for (const auto& [kind, count] : w.kinds)
            kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, name_of(kind));
        bullets.items.push_back(fmt::format(
            "{}: best in {} of {}{}", c.labels[c.compared[i]], w.regions, c.regions.size(),
            w.regions == 0
                ? std::string()
                : fmt::format(" with {} of the operations ({})",
                              format_percent(operations > 0 ? w.operations / operations : 0), kinds)));
        if (c.results[c.compared[i]].estimate.projected)
            bullets.items.back() = fmt::format("{} (projected, not measured): would be best in {} of {}",
                                               c.labels[c.compared[i]], w.projected, c.regions.size());
    }
    return bullets;
}

} // namespace

namespace {

/// Rows whose names differ in numbers alone and whose cells are equal become one, with their sum.
void fold_equal(Table& table, const Metric& shown) {
    constexpr std::size_t kName = 1, kFirstValue = 3;
    const auto at_winner = std::find_if(table.columns.begin(), table.columns.end(),
                                        [](const Column& column) { return column.key == "winner"; });
    const auto after = static_cast<std::size_t>(table.columns.end() - at_winner);
    std::map<std::string, std::size_t> seen;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::vector<std::string>> names;
    for (std::vector<Cell>& row : table.rows) {
        std::string key = name_shape(row[kName].text);
        for (std::size_t i = kName + 1; i < row.size(); ++i)
            key += "\n" + row[i].text;
        const auto [at, fresh] = seen.try_emplace(key, rows.size());
        if (fresh) {
            names.emplace_back();
            rows.push_back(row);
        } else {
            for (std::size_t i = kFirstValue; i < row.size() - after; ++i) // not the winner and its margin
                if (row[i].value)
                    *rows[at->second][i].value += *row[i].value;
        }
        names[at->second].push_back(row[kName].text);
    }
    table.columns.push_back({"Count", "", "count", Align::right}); // IDs are those of the first
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r][kName].text = shortened_name(common_name(names[r]), kLongestOperation);
        for (std::size_t i = kFirstValue; i < rows[r].size() - after; ++i)
            if (rows[r][i].value)
                rows[r][i].text = format_value(shown, *rows[r][i].value);
        rows[r].push_back({fmt::format("{}", names[r].size()), static_cast<double>(names[r].size())});
    }
    table.rows = std::move(rows);
}

} // namespace

namespace {

/// "Conv2D 64ch": what the region's largest operator is, on the first architecture.
std::string region_operation(const ArchitectureComparison& c, const CommonRegion& region) {
    const auto leaves = leaves_of(c.results[c.compared.front()]);
    if (region.part < leaves.size() && !region.subgraphs.empty()) {
        const Result& leaf = *leaves[region.part].result;
        for (const std::uint32_t s : region.subgraphs.front()) {
            const Subgraph& subgraph = leaf.partition->subgraphs[leaf.estimate.subgraphs[s].index];
            if (subgraph.kind == region.kind)
                return operation_with_size(*leaf.model->graph, subgraph);
        }
    }
    return std::string(name_of(region.kind));
}

/// A row per layer, a column per architecture: how many times the best of them it takes.
Chart region_chart(const ArchitectureComparison& c, const Metric& shown, const Table& rows) {
    constexpr std::size_t kFirstValue = 3;
    Chart chart;
    chart.kind = ChartKind::heat_map;
    chart.title = fmt::format("{} of each subgraph, times that of the least", shown.title);
    chart.x_title = "architecture";
    chart.y_title = "times the least";
    chart.y_log = true;
    for (const std::vector<Cell>& row : rows.rows) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < c.compared.size(); ++i)
            if (const auto& value = row[kFirstValue + i].value; value && *value > 0)
                least = std::min(least, *value);
        ChartSeries series{row[0].text + " " + row[2].text, {}};
        for (std::size_t i = 0; i < c.compared.size(); ++i)
            if (const auto& value = row[kFirstValue + i].value)
                series.points.push_back(
                    {c.labels[c.compared[i]], 0, *value / least, {}, {}, format_ratio(*value / least)});
        chart.series.push_back(std::move(series));
    }
    return chart;
}

/// What no row holds, and the total that the architectures' own values are: rows of the table add up.
void add_outside(const ArchitectureComparison& c, const Metric& shown, Table& table) {
    constexpr std::size_t kName = 1, kFirstValue = 3;
    std::vector<Cell> outside(table.columns.size()), total(table.columns.size());
    outside[kName].text = "outside subgraphs";
    total[kName].text = "Total";
    bool any = false;
    for (std::size_t i = 0; i < c.compared.size(); ++i) {
        const ShownPass pass = shown_pass(c.results[c.compared[i]]);
        const double whole = shown == metric::latency ? pass.latency_s : pass.energy_j;
        double rest = whole;
        for (const CommonRegion& region : c.regions)
            rest -= value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric);
        constexpr double kRounding = 1e-9; // of sums taken in another order
        rest = std::abs(rest) <= kRounding * whole ? 0 : rest;
        any = any || rest != 0;
        outside[kFirstValue + i] = {format_value(shown, rest), rest};
        total[kFirstValue + i] = {format_value(shown, whole), whole, Tone::strong};
    }
    if (any)
        table.rows.push_back(std::move(outside));
    table.rows.push_back(std::move(total));
}

} // namespace

void add_subgraphs(const ArchitectureComparison& c, Format format, Report& report) {
    if (c.compared.empty())
        return;
    const Metric& shown = regional(*c.request.metric);
    const bool time = shown == metric::latency;
    report.blocks.push_back(Heading{2, fmt::format("Subgraph-Level Comparison: {}", c.model->title)});
    Table table;
    table.title = fmt::format("{} of each subgraph{}", shown.title,
                              c.request.workload.batch > 1 && !time ? " (whole batch)" : "");
    table.columns = {{"ID", "", "id", Align::right}, {"Operation", "", "subgraph"}, {"Kind", "", "kind"}};
    for (std::size_t i : c.compared)
        table.columns.push_back(
            {c.labels[i], "", fmt::format("{}_{}", c.labels[i], time ? "s" : "j"), Align::right});
    table.columns.push_back({"Winner", "", "winner"});
    const bool any_projected = std::any_of(c.compared.begin(), c.compared.end(),
                                           [&](std::size_t i) { return c.results[i].estimate.projected; });
    if (any_projected)
        table.columns.push_back({"Projected", "", "projected_winner"});
    table.columns.push_back({"Margin", "", "margin", Align::right, 1});
    std::vector<Wins> wins(c.compared.size());
    for (std::size_t r = 0; r < c.regions.size(); ++r) {
        const CommonRegion& region = c.regions[r];
        const RegionWinner winner = region_winner(c, region);
        std::vector<Cell> row{
            {fmt::format("{}", r), static_cast<double>(r)}, {region.name}, {region_operation(c, region)}};
        for (std::size_t i = 0; i < c.compared.size(); ++i) {
            const double value = value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric);
            row.push_back({format_value(shown, value), value, i == winner.best ? Tone::good : Tone::plain});
        }
        const bool only_projections = c.results[c.compared[winner.best]].estimate.projected;
        row.push_back({only_projections ? "-" : c.labels[c.compared[winner.best]]});
        const auto projected = only_projections ? std::optional(winner.best) : winner.projected;
        if (any_projected)
            row.push_back({projected ? c.labels[c.compared[*projected]] : "-"});
        row.push_back(winner.margin > 0 ? Cell{format_ratio(winner.margin), winner.margin} : Cell{"-"});
        table.rows.push_back(std::move(row));
        if (projected)
            ++wins[*projected].projected;
        Wins& w = wins[winner.best];
        ++w.regions;
        w.operations += region.operations;
        ++w.kinds[region.kind];
    }
    if (format == Format::text || format == Format::markdown)
        fold_equal(table, shown);
    constexpr std::size_t kCharted = 60; // rows of a heat map that can be read
    std::optional<Chart> layers;
    if (format == Format::text && table.rows.size() <= kCharted)
        layers = region_chart(c, shown, table);
    add_outside(c, shown, table);
    table.notes.emplace_back("A row is the smallest set of operators that every software stack covers with "
                             "whole subgraphs.");
    report.blocks.push_back(std::move(table));
    if (layers)
        report.blocks.push_back(std::move(*layers));
    report.blocks.push_back(Heading{3, "Summary:"});
    report.blocks.push_back(win_summary(c, wins));
}

} // namespace archsim
