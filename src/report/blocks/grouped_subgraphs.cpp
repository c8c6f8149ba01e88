#include "report/blocks/grouped_subgraphs.hpp"
#include "report/blocks/columns.hpp"

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

/// A group of equal subgraphs; of what is outside of them no count, of several groups no utilisation.
struct GroupRow {
    std::string name, kind, bound, allocation;
    double seconds = 0, joules = 0;
    std::optional<std::size_t> count = {};
    std::optional<double> utilization = {};
};

GroupRow row_of(const Result& result, const SubgraphGroup& group) {
    const SubgraphEstimate& first = result.estimate.subgraphs[group.members.front()];
    const Subgraph& subgraph = result.partition->subgraphs[first.index];
    return {.name = group_name(result, group),
            .kind = std::string(name_of(subgraph.kind)),
            .bound = bound_label(first.bound, first.binding),
            .allocation = allocation_text(first.mapping.allocation, unit_name(*result.device)),
            .seconds = group.latency_s,
            .joules = group.energy_j,
            .count = group.members.size(),
            .utilization = first.utilization};
}

std::vector<ColumnOf<GroupRow>> group_columns(double total_s, const UnitOfColumn& joules) {
    using G = GroupRow;
    return {
        {{"Subgraph", "", "subgraph"}, &G::name},
        {most_best("Count", "", "count"),
         [](const G& g) { return g.count ? whole_cell(*g.count) : text_cell(""); }},
        {{"Kind", "", "kind", Align::left, 1}, [](const G& g) { return text_cell(g.kind); }},
        {least_best("Time", "µs", "latency_s"), 1e-6, &G::seconds},
        {least_best("Share", "%", "share"), [=](const G& g) { return percent_cell(g.seconds / total_s); }},
        {{"Bound by", "", "binding"}, [](const G& g) { return text_cell(g.bound); }},
        {most_best("Util", "%", "utilization", 2),
         [](const G& g) { return g.utilization ? percent_cell(*g.utilization) : text_cell(""); }},
        {least_best("Energy", joules.name, "energy_j", 3), joules.factor, &G::joules},
        {{"Allocation", "", "allocation", Align::left, 4},
         [](const G& g) { return text_cell(g.allocation); }}};
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
    std::vector<GroupRow> rows;
    for (std::size_t i = 0; i < shown; ++i)
        rows.push_back(row_of(result, groups[i]));
    if (!all) {
        GroupRow rest{.name = fmt::format("{} more groups (--verbose)", groups.size() - shown), .count = 0};
        for (std::size_t i = shown; i < groups.size(); ++i) {
            *rest.count += groups[i].members.size();
            rest.seconds += groups[i].latency_s;
            rest.joules += groups[i].energy_j;
        }
        rows.push_back(std::move(rest));
    }
    for (const OutsidePart& part : outside_parts(result))
        rows.push_back({.name = part.name, .seconds = part.cost.latency_s, .joules = part.cost.energy_j});
    return table_of(fmt::format("{}, {} in {} groups of equal ones", with_pass("Subgraphs", result),
                                result.estimate.subgraphs.size(), groups.size()),
                    group_columns(shown_pass(result).latency_s, joules), rows);
}

} // namespace archsim
