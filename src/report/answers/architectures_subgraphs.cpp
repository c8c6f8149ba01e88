// ID   Operation            Kind         CPU       GPU       TPU       KPU   Winner
// 0    conv1                convolution  15.3 uJ   3.84 uJ   0.52 uJ   2.18 uJ  TPU, 4.2x
//
// A row is the smallest set of operators that all software stacks cover with whole subgraphs.

#include "report/answers/architectures.hpp"

#include "report/blocks/name_pattern.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace archsim {

RegionWinner region_winner(const ArchitectureComparison& c, const CommonRegion& region) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < c.compared.size(); ++i)
        order.emplace_back(value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric), i);
    std::sort(order.begin(), order.end());
    const bool ratio = order.size() > 1 && order[0].first > 0;
    return {order.front().second, ratio ? order[1].first / order[0].first : 0};
}

namespace {

constexpr std::size_t kLongestOperation = 44;

/// Sums per architecture: what it wins, and of which kinds most.
struct Wins {
    int regions = 0;
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
    }
    return bullets;
}

} // namespace

namespace {

/// Rows whose names differ in numbers alone and whose cells are equal become one, with their sum.
void fold_equal(Table& table, const Metric& shown) {
    constexpr std::size_t kName = 1, kFirstValue = 3;
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
            for (std::size_t i = kFirstValue; i + 2 < row.size(); ++i) // not the winner and its margin
                if (row[i].value)
                    *rows[at->second][i].value += *row[i].value;
        }
        names[at->second].push_back(row[kName].text);
    }
    table.columns.push_back({"Count", "", "count", Align::right}); // IDs are those of the first
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r][kName].text = shortened_name(common_name(names[r]), kLongestOperation);
        for (std::size_t i = kFirstValue; i + 2 < rows[r].size(); ++i)
            if (rows[r][i].value)
                rows[r][i].text = format_value(shown, *rows[r][i].value);
        rows[r].push_back({fmt::format("{}", names[r].size()), static_cast<double>(names[r].size())});
    }
    table.rows = std::move(rows);
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
    table.columns.push_back({"Margin", "", "margin", Align::right, 1});
    std::vector<Wins> wins(c.compared.size());
    for (std::size_t r = 0; r < c.regions.size(); ++r) {
        const CommonRegion& region = c.regions[r];
        const RegionWinner winner = region_winner(c, region);
        std::vector<Cell> row{{fmt::format("{}", r), static_cast<double>(r)},
                              {region.name},
                              {std::string(name_of(region.kind))}};
        for (std::size_t i = 0; i < c.compared.size(); ++i) {
            const double value = value_of(cost_of(region, i, c.results[c.compared[i]]), *c.request.metric);
            row.push_back({format_value(shown, value), value, i == winner.best ? Tone::good : Tone::plain});
        }
        row.push_back({c.labels[c.compared[winner.best]]});
        row.push_back(winner.margin > 0 ? Cell{format_ratio(winner.margin), winner.margin} : Cell{"-"});
        table.rows.push_back(std::move(row));
        Wins& w = wins[winner.best];
        ++w.regions;
        w.operations += region.operations;
        ++w.kinds[region.kind];
    }
    if (format == Format::text || format == Format::markdown)
        fold_equal(table, shown);
    table.notes.emplace_back("A row is the smallest set of operators that every software stack covers with "
                             "whole subgraphs.");
    report.blocks.push_back(std::move(table));
    report.blocks.push_back(Heading{3, "Summary:"});
    report.blocks.push_back(win_summary(c, wins));
}

} // namespace archsim
