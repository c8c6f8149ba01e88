#include "report/blocks/subgraph_table.hpp"

#include "core/lists.hpp"
#include "estimate/resource_times.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/shape_text.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace archsim {

std::string allocation_text(const Allocation& a, std::string_view unit) {
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + part; };
    if (a.units_total > 0)
        add(fmt::format("{:.0f} of {:.0f} {}", a.units_used, a.units_total, unit));
    if (a.waves > 0)
        add(fmt::format("{} wave{}", format_count(a.waves), a.waves == 1 ? "" : "s"));
    if (a.tile_m > 0)
        add(fmt::format("tile {}x{}", a.tile_m, a.tile_n));
    if (*a.scheme)
        add(a.scheme);
    return text;
}

std::string_view unit_name(const Device& device) {
    return device.engines.empty() ? std::string_view("units") : std::string_view(device.engines.front().unit);
}

std::string pass_text(const Result& result) {
    const ShownPass pass = shown_pass(result);
    if (!pass.part_of_answer)
        return "";
    return pass.steps > 0 ? fmt::format("the step at {:.0f} positions (one of {:.0f}, {})", pass.context,
                                        pass.steps, format_time(pass.latency_s))
                          : fmt::format("the prompt's pass ({})", format_time(pass.latency_s));
}

std::string with_pass(std::string title, const Result& result) {
    const std::string pass = pass_text(result);
    return pass.empty() ? title : title + " of " + pass;
}

std::string bound_label(Bound bound, Resource binding) {
    return bound == Bound::overhead ? std::string("starting kernels") : std::string(name_of(binding));
}

std::optional<OutsideSubgraphs> outside_subgraphs(const Result& result) {
    const ShownPass pass = shown_pass(result);
    OutsideSubgraphs outside{pass.latency_s, pass.energy_j};
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        outside.latency_s -= s.latency_s;
        outside.energy_j -= s.energy.total();
    }
    constexpr double kRounding = 1e-9; // of sums taken in another order
    if (!(outside.latency_s > kRounding * pass.latency_s) && !(outside.energy_j > kRounding * pass.energy_j))
        return std::nullopt;
    return OutsideSubgraphs{std::max(0.0, outside.latency_s), std::max(0.0, outside.energy_j)};
}

std::vector<OutsidePart> outside_parts(const Result& result) {
    const auto outside = outside_subgraphs(result);
    if (!outside)
        return {};
    std::vector<OutsidePart> parts;
    double left = outside->latency_s;
    const auto add = [&](std::string name, double seconds) {
        seconds = std::min(seconds, left);
        if (!(seconds > 0))
            return;
        left -= seconds;
        parts.push_back({std::move(name), {seconds, outside->energy_j * seconds / outside->latency_s}});
    };
    const Estimate& e = result.estimate;
    add("waiting for weights (exposed streaming)", e.weights_wait_s);
    for (const ResourceTime& time : resource_times(e.network.fixed, *result.machine, e.clock_ratio, 1))
        add(fmt::format("once an inference: {}", time.reason == Parameter::count_
                                                     ? name_of(time.resource)
                                                     : info_of(time.reason).name),
            time.seconds);
    constexpr double kRounding = 1e-6;
    if (left > kRounding * outside->latency_s)
        add("outside subgraphs", left);
    else if (parts.empty())
        parts.push_back({"outside subgraphs", *outside});
    return parts;
}

Table subgraph_table(const Result& result) {
    const double largest =
        peak_of(0.0, result.estimate.subgraphs, [](const SubgraphEstimate& s) { return s.energy.total(); });
    const UnitOfColumn joules = energy_unit(largest);
    struct Row {
        const SubgraphEstimate* estimate; ///< null: what is outside
        double latency_s, energy_j;
        std::string name = {}; ///< of what is outside
    };
    const auto lane = [](Lane of) {
        return [of](const Row& r) { return r.estimate->lane_s[static_cast<std::size_t>(of)]; };
    };
    const auto subgraph = [&](const Row& r) -> const Subgraph& {
        return result.partition->subgraphs[r.estimate->index];
    };
    const auto inside = [](const Row& r) { return r.estimate != nullptr; };
    std::vector<ColumnOf<Row>> columns = {
        {{"Subgraph", "", "subgraph"}, [&](const Row& r) { return inside(r) ? subgraph(r).name : r.name; }},
        {{"Kind", "", "kind"}, [&](const Row& r) { return name_of(subgraph(r).kind); }},
        {least_best("Time", "µs", "latency_s"), 1e-6, &Row::latency_s},
        {{"Bound by", "", "binding"},
         [](const Row& r) { return bound_label(r.estimate->bound, r.estimate->binding); }},
        {least_best("Compute", "µs", "compute_s", 2), 1e-6, lane(Lane::compute)},
        {least_best("On-chip", "µs", "on_chip_s", 3), 1e-6, lane(Lane::on_chip)},
        {least_best("Memory", "µs", "memory_s", 2), 1e-6, lane(Lane::memory)},
        {least_best("Fixed", "µs", "overhead_s", 2), 1e-6, lane(Lane::overhead)},
        {most_best("Util", "%", "utilization", 2),
         [](const Row& r) { return percent_cell(r.estimate->utilization); }},
        {least_best("Energy", joules.name, "energy_j", 2), joules.factor, &Row::energy_j},
        {{"Allocation", "", "allocation", Align::left, 1}, [&](const Row& r) {
             const std::string own =
                 allocation_text(r.estimate->mapping.allocation, unit_name(*result.device));
             return text_cell(r.estimate->pieces > 1
                                  ? fmt::format("{} pieces of the batch: {}", r.estimate->pieces, own)
                                  : own);
         }}};
    for (ColumnOf<Row>& c : columns) // outside there is time and energy, and nothing else
        if (c.column.key != "subgraph" && c.column.key != "latency_s" && c.column.key != "energy_j")
            c.cell = [inside, cell = std::move(c.cell)](const Row& r) {
                return inside(r) ? cell(r) : text_cell("");
            };
    std::vector<Row> rows;
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        rows.push_back({&s, s.latency_s, s.energy.total()});
    for (const OutsidePart& part : outside_parts(result))
        rows.push_back({nullptr, part.cost.latency_s, part.cost.energy_j, part.name});
    return table_of(with_pass("Subgraphs", result), columns, rows);
}

constexpr std::size_t kLongestName = 44;

/// Two subgraphs with the same key are one row. Values are equal to the bit where the counts are: see
/// NetworkWork::representatives.
static auto key_of(const Result& result, const SubgraphEstimate& s) {
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

static GroupRow row_of(const Result& result, const SubgraphGroup& group) {
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

static std::vector<ColumnOf<GroupRow>> group_columns(double total_s, const UnitOfColumn& joules) {
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
    std::ranges::stable_sort(groups, std::ranges::greater{}, &SubgraphGroup::latency_s);
    return groups;
}

std::string group_name(const Result& result, const SubgraphGroup& group) {
    const auto names = mapped(group.members, [&](std::size_t i) {
        return result.partition->subgraphs[result.estimate.subgraphs[i].index].name;
    });
    return shortened_name(common_name(names), kLongestName);
}

Table grouped_subgraph_table(const Result& result, std::size_t most) {
    const std::vector<SubgraphGroup> groups = group_subgraphs(result);
    const bool all = most == 0 || groups.size() <= most + 1;
    const std::size_t shown = all ? groups.size() : most;
    const double largest = peak_of(0.0, groups, &SubgraphGroup::energy_j);
    const UnitOfColumn joules = energy_unit(largest);
    auto rows = mapped(indices(shown), [&](std::size_t i) { return row_of(result, groups[i]); });
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
