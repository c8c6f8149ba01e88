#include "report/blocks/grouped_subgraphs.hpp"
#include "report/blocks/cells.hpp"

#include "report/blocks/name_pattern.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "result/shown_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace archsim {

namespace {

constexpr std::size_t kLongestName = 44;

/// What makes two subgraphs one row. Values are equal to the bit where the counts are: see
/// NetworkWork::representatives.
auto key_of(const Result& result, const SubgraphEstimate& s) {
    const Subgraph& subgraph = result.partition->subgraphs[s.index];
    const Allocation& a = s.mapping.allocation;
    return std::tuple(subgraph.kind, s.bound, s.binding, s.latency_s, s.energy.total(), s.pieces,
                      a.units_used, a.tile_m, a.tile_n);
}

struct GroupRow {
    std::string name, kind, bound, allocation;
    double count = 0, seconds = 0, joules = 0, utilization = 0;
};

GroupRow row_of(const Result& result, const SubgraphGroup& group) {
    const SubgraphEstimate& first = result.estimate.subgraphs[group.members.front()];
    const Subgraph& subgraph = result.partition->subgraphs[first.index];
    return {group_name(result, group),
            std::string(name_of(subgraph.kind)),
            bound_label(first.bound, first.binding),
            allocation_text(first.mapping.allocation, unit_name(*result.device)),
            static_cast<double>(group.members.size()),
            group.latency_s,
            group.energy_j,
            first.utilization};
}

std::vector<Cell> cells_of_row(const GroupRow& row, double total_s, const UnitOfColumn& joules) {
    return {{row.name},
            {format_count(row.count), row.count, Tone::plain, {}, CellKind::count},
            {row.kind},
            cell_in(1e-6, row.seconds),
            percent_cell(row.seconds / total_s),
            {row.bound},
            percent_cell(row.utilization),
            cell_in(joules.factor, row.joules),
            {row.allocation}};
}

} // namespace

std::vector<SubgraphGroup> group_subgraphs(const Result& result) {
    using Key = decltype(key_of(result, result.estimate.subgraphs.front()));
    std::map<Key, std::size_t> seen;
    std::vector<SubgraphGroup> groups;
    for (std::size_t i = 0; i < result.estimate.subgraphs.size(); ++i) {
        const SubgraphEstimate& s = result.estimate.subgraphs[i];
        const auto [at, fresh] = seen.try_emplace(key_of(result, s), groups.size());
        if (fresh)
            groups.emplace_back();
        SubgraphGroup& group = groups[at->second];
        group.members.push_back(i);
        group.latency_s += s.latency_s;
        group.energy_j += s.energy.total();
    }
    std::stable_sort(groups.begin(), groups.end(), [](const SubgraphGroup& a, const SubgraphGroup& b) {
        return a.latency_s > b.latency_s;
    });
    return groups;
}

std::string group_name(const Result& result, const SubgraphGroup& group) {
    std::vector<std::string> names;
    for (const std::size_t i : group.members)
        names.push_back(result.partition->subgraphs[result.estimate.subgraphs[i].index].name);
    return shortened_name(common_name(names), kLongestName);
}

Table grouped_subgraph_table(const Result& result, std::size_t most) {
    const std::vector<SubgraphGroup> groups = group_subgraphs(result);
    const bool all = most == 0 || groups.size() <= most + 1;
    const std::size_t shown = all ? groups.size() : most;
    double largest = 0;
    for (const SubgraphGroup& group : groups)
        largest = std::max(largest, group.energy_j);
    const UnitOfColumn joules = energy_unit(largest);
    Table table;
    table.title = fmt::format("{}, {} in {} groups of equal ones", with_pass("Subgraphs", result),
                              result.estimate.subgraphs.size(), groups.size());
    table.columns = {{"Subgraph", "", "subgraph"},
                     {"Count", "", "count", Align::right},
                     {"Kind", "", "kind", Align::left, 1},
                     {"Time", "µs", "latency_s", Align::right},
                     {"Share", "%", "share", Align::right},
                     {"Bound by", "", "binding"},
                     {"Util", "%", "utilization", Align::right, 2},
                     {"Energy", joules.name, "energy_j", Align::right, 3},
                     {"Allocation", "", "allocation", Align::left, 4}};
    const double total = shown_pass(result).latency_s;
    for (std::size_t i = 0; i < shown; ++i)
        table.rows.push_back(cells_of_row(row_of(result, groups[i]), total, joules));
    if (!all) {
        GroupRow rest;
        for (std::size_t i = shown; i < groups.size(); ++i) {
            rest.count += static_cast<double>(groups[i].members.size());
            rest.seconds += groups[i].latency_s;
            rest.joules += groups[i].energy_j;
        }
        rest.name = fmt::format("{} more groups (--verbose)", groups.size() - shown);
        std::vector<Cell> cells = cells_of_row(rest, total, joules);
        cells[6] = {};
        table.rows.push_back(std::move(cells));
    }
    if (const auto outside = outside_subgraphs(result)) {
        GroupRow row;
        row.name = "outside subgraphs";
        row.seconds = outside->latency_s;
        row.joules = outside->energy_j;
        std::vector<Cell> cells = cells_of_row(row, total, joules);
        cells[1] = cells[6] = {};
        table.rows.push_back(std::move(cells));
    }
    return table;
}

} // namespace archsim
