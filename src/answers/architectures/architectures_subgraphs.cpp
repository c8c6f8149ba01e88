// ID   Operation            Kind         CPU       GPU       TPU       KPU   Winner
// 0    conv1                convolution  15.3 uJ   3.84 uJ   0.52 uJ   2.18 uJ  TPU, 4.2x
//
// A row is the smallest set of operators that all software stacks cover with whole subgraphs.

#include "answers/architectures/architectures.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/shape_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "result/generation_metrics.hpp"
#include "result/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace archsim {

RegionWinner region_winner(const ArchitectureComparison& c, const CommonRegion& region) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < c.compared.size(); ++i)
        order.emplace_back(value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric), i);
    std::ranges::sort(order);
    const auto projected = [&](const auto& entry) {
        return !may_lead(c.results[c.compared[entry.second]].estimate);
    };
    RegionWinner winner;
    if (projected(order.front()) && !std::ranges::all_of(order, projected)) {
        winner.projected = order.front().second;
        std::erase_if(order, projected);
    }
    winner.best = order.front().second;
    if (order.size() > 1 && order[0].first > 0)
        winner.margin = order[1].first / order[0].first;
    return winner;
}

constexpr std::size_t kLongestOperation = 44;

/// Sums per architecture: what it wins, and of which kinds most.
struct Wins {
    int regions = 0, projected = 0; ///< projected: would be better there than what was measured
    double operations = 0;
    std::map<OpKind, int> kinds;
};

static Bullets win_summary(const ArchitectureComparison& c, const std::vector<Wins>& wins) {
    Bullets bullets;
    const double operations = sum_of(wins, &Wins::operations);
    std::vector<std::size_t> order = indices(wins.size());
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return wins[a].regions > wins[b].regions; });
    for (std::size_t i : order) {
        const Wins& w = wins[i];
        const std::string kinds = joined(
            w.kinds, [](const auto& kind) { return fmt::format("{} {}", kind.second, name_of(kind.first)); });
        bullets.items.push_back(fmt::format(
            "{}: best in {} of {}{}", c.labels[c.compared[i]], w.regions, c.regions.size(),
            w.regions == 0
                ? std::string()
                : fmt::format(" with {} of the operations ({})",
                              format_percent(operations > 0 ? w.operations / operations : 0), kinds)));
        if (const std::string note = standing_note(c.results[c.compared[i]].estimate); !note.empty())
            bullets.items.back() = fmt::format("{}{}: would be best in {} of {}", c.labels[c.compared[i]],
                                               note, w.projected, c.regions.size());
    }
    return bullets;
}

/// A layer, or the sum of several whose names differ in numbers alone; last what no layer holds and the
/// total.
struct LayerRow {
    std::optional<std::size_t> id; ///< of the first; null: no layer
    std::vector<std::string> names;
    std::string operation;
    std::vector<double> values;                 ///< of the architectures
    std::optional<std::size_t> best, projected; ///< of them
    double margin = 0;
};

/// Equal layers become one row, with their sum.
static std::vector<LayerRow> fold_equal(const std::vector<LayerRow>& layers, const Metric& shown) {
    std::map<std::string, std::size_t> seen;
    std::vector<LayerRow> rows;
    for (const LayerRow& layer : layers) {
        std::string key = fmt::format("{}\n{}\n{} {} {}", name_shape(layer.names.front()), layer.operation,
                                      layer.best.value_or(layers.size()),
                                      layer.projected.value_or(layers.size()), format_ratio(layer.margin));
        for (const double value : layer.values)
            key += "\n" + format_value(shown, value);
        const auto [at, fresh] = seen.try_emplace(key, rows.size());
        if (fresh) {
            rows.push_back(layer);
            continue;
        }
        LayerRow& whole = rows[at->second];
        whole.names.push_back(layer.names.front());
        for (std::size_t i = 0; i < layer.values.size(); ++i)
            whole.values[i] += layer.values[i];
    }
    return rows;
}

/// "Conv2D 64ch": what the region's largest operator is, on the first architecture.
static std::string region_operation(const ArchitectureComparison& c, const CommonRegion& region) {
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
static Chart region_chart(const ArchitectureComparison& c, const Metric& shown,
                          const std::vector<LayerRow>& layers) {
    Chart chart{ChartKind::heat_map,
                fmt::format("{} of each subgraph, times that of the least", shown.title),
                "architecture",
                "times the least",
                false,
                true};
    for (const LayerRow& layer : layers) {
        double least = std::numeric_limits<double>::infinity();
        for (const double value : layer.values)
            if (value > 0)
                least = std::min(least, value);
        ChartSeries series{fmt::format("{} {}", *layer.id, layer.operation), {}};
        for (std::size_t i = 0; i < layer.values.size(); ++i)
            series.points.push_back({.label = c.labels[c.compared[i]],
                                     .y = layer.values[i] / least,
                                     .hover = format_ratio(layer.values[i] / least)});
        chart.series.push_back(std::move(series));
    }
    return chart;
}

/// Adds what no row holds, and the total that the architectures' own values are: rows of the table add up.
static void add_outside(const ArchitectureComparison& c, const Metric& shown, std::vector<LayerRow>& rows) {
    LayerRow outside, total;
    outside.names = {"outside subgraphs"};
    total.names = {"Total"};
    for (std::size_t i = 0; i < c.compared.size(); ++i) {
        const ShownPass pass = shown_pass(c.results[c.compared[i]]);
        const double whole = shown == metric::latency ? pass.latency_s : pass.energy_j;
        double rest = whole;
        for (const CommonRegion& region : c.regions)
            rest -= value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric);
        constexpr double kRounding = 1e-9; // of sums taken in another order
        outside.values.push_back(std::abs(rest) <= kRounding * whole ? 0 : rest);
        total.values.push_back(whole);
    }
    if (std::ranges::any_of(outside.values, [](double rest) { return rest != 0; }))
        rows.push_back(std::move(outside));
    rows.push_back(std::move(total));
}

static std::vector<ColumnOf<LayerRow>> layer_columns(const ArchitectureComparison& c, const Metric& shown,
                                                     bool folded) {
    using L = LayerRow;
    const auto layer = [](const L& row) { return row.id.has_value(); };
    const auto winner = [&](std::optional<std::size_t> L::*of) {
        return [&c, of](const L& row) { return row.*of ? c.labels[c.compared[*(row.*of)]] : std::string(); };
    };
    std::vector<ColumnOf<L>> columns =
        where<L>(layer, {{least_best("ID", "", "id"), [](const L& row) { return whole_cell(*row.id); }}});
    columns.emplace_back(Column{"Operation", "", "subgraph"}, [folded](const L& row) {
        return folded && row.id ? shortened_name(common_name(row.names), kLongestOperation)
                                : row.names.front();
    });
    append(columns, where<L>(layer, {{{"Kind", "", "kind"}, &L::operation}}));
    for (std::size_t i = 0; i < c.compared.size(); ++i) {
        const std::string& label = c.labels[c.compared[i]];
        columns.emplace_back(
            least_best(label, "", fmt::format("{}_{}", label, shown == metric::latency ? "s" : "j")),
            [&shown, i](const L& row) {
                const bool is_total = !row.id && row.names.front() == "Total";
                const bool best = row.best ? row.best == i : row.projected == i;
                return Cell{format_value(shown, row.values[i]), row.values[i],
                            is_total ? Tone::strong
                            : best   ? Tone::good
                                     : Tone::plain};
            });
    }
    std::vector<ColumnOf<L>> won = {{{"Winner", "", "winner"}, winner(&L::best)}};
    if (std::ranges::any_of(c.compared, [&](std::size_t i) { return !may_lead(c.results[i].estimate); }))
        won.emplace_back(Column{"Projected", "", "projected_winner"}, winner(&L::projected));
    won.emplace_back(most_best("Margin", "", "margin", 1), [](const L& row) {
        return row.margin > 0 ? Cell{format_ratio(row.margin), row.margin} : Cell{};
    });
    if (folded) // IDs are those of the first
        won.emplace_back(most_best("Count", "", "count"),
                         [](const L& row) { return whole_cell(row.names.size()); });
    append(columns, where<L>(layer, std::move(won)));
    for (ColumnOf<L>& column : columns) // what no layer holds has a name and values: the rest stays blank
        column.cell = [layer, cell = std::move(column.cell)](const L& row) {
            Cell shown_cell = cell(row);
            shown_cell.kind = layer(row) ? shown_cell.kind : CellKind::text;
            return shown_cell;
        };
    return columns;
}

void add_subgraphs(const ArchitectureComparison& c, Format format, Report& report) {
    if (c.compared.empty())
        return;
    const Metric& shown = regional(*c.request.metric);
    report.blocks.push_back(Heading{2, fmt::format("Subgraph-Level Comparison: {}", c.model->title)});
    std::vector<LayerRow> layers;
    std::vector<Wins> wins(c.compared.size());
    for (std::size_t r = 0; r < c.regions.size(); ++r) {
        const CommonRegion& region = c.regions[r];
        const RegionWinner winner = region_winner(c, region);
        LayerRow layer{.id = r, .names = {region.name}, .operation = region_operation(c, region)};
        for (std::size_t i = 0; i < c.compared.size(); ++i)
            layer.values.push_back(value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric));
        const bool only_projections = !may_lead(c.results[c.compared[winner.best]].estimate);
        if (!only_projections)
            layer.best = winner.best;
        layer.projected = only_projections ? std::optional(winner.best) : winner.projected;
        layer.margin = winner.margin;
        if (layer.projected)
            ++wins[*layer.projected].projected;
        layers.push_back(std::move(layer));
        Wins& w = wins[winner.best];
        ++w.regions;
        w.operations += region.operations;
        ++w.kinds[region.kind];
    }
    const bool folded = format == Format::text || format == Format::markdown;
    if (folded)
        layers = fold_equal(layers, shown);
    constexpr std::size_t kCharted = 60; // rows of a heat map that can be read
    std::optional<Chart> picture;
    if (format == Format::text && layers.size() <= kCharted)
        picture = region_chart(c, shown, layers);
    add_outside(c, shown, layers);
    Table table = table_of(
        fmt::format("{} of each subgraph{}", shown.title,
                    c.request.workload.batch > 1 && shown != metric::latency ? " (whole batch)" : ""),
        layer_columns(c, shown, folded), layers);
    table.notes.emplace_back("A row is the smallest set of operators that every software stack covers with "
                             "whole subgraphs.");
    report.blocks.push_back(std::move(table));
    if (picture)
        report.blocks.push_back(std::move(*picture));
    add_blocks(report, Heading{3, "Summary:"}, win_summary(c, wins));
}

} // namespace archsim
