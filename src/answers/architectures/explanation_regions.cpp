#include "answers/architectures/architectures.hpp"

#include "answers/difference/attribution.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/shape_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace archsim {

namespace {

constexpr double kCarried = 0.8; ///< share of the difference that the listed subgraphs carry
constexpr std::size_t kMostNames = 3, kLongestRegion = 40;

std::string region_name(const Attribution& attribution, const RegionContribution& r) {
    return r.region ? attribution.regions[*r.region].name : "whole network";
}

/// Regions whose names differ in numbers alone, with one cause and one part each.
struct RegionGroup {
    std::vector<std::string> names;
    const RegionContribution* first = nullptr;
    double value = 0;
};

std::vector<RegionGroup> grouped_regions(const Attribution& x,
                                         const std::vector<const RegionContribution*>& list) {
    std::map<std::string, std::size_t> seen;
    std::vector<RegionGroup> groups;
    for (const RegionContribution* r : list) {
        const std::string name = region_name(x, *r);
        const std::string key =
            fmt::format("{} {} {} {} {:.2g}", name_shape(name), static_cast<int>(r->main),
                        static_cast<int>(r->a_bound), static_cast<int>(r->b_bound), r->value);
        const auto [at, fresh] = seen.try_emplace(key, groups.size());
        if (fresh)
            groups.push_back({{}, r, 0});
        groups[at->second].names.push_back(name);
        groups[at->second].value += r->value;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const RegionGroup& a, const RegionGroup& b) {
        return std::abs(a.value) > std::abs(b.value);
    });
    return groups;
}

Table region_table(const ArchitectureComparison& c, const Explanation& e,
                   const std::vector<const RegionContribution*>& list) {
    const Attribution& x = e.attribution;
    double carried = 0;
    for (const RegionContribution* r : list)
        carried += r->value;
    const auto groups = grouped_regions(x, list);
    using G = RegionGroup;
    const auto bound = [](Bound RegionContribution::*side) {
        return [side](const G& g) { return g.first->region ? name_of(g.first->*side) : std::string_view(); };
    };
    return table_of<G>(
        fmt::format("Subgraphs that carry most of it: {} of {} ({} of {})", signed_value(*x.metric, carried),
                    signed_value(*x.metric, x.difference), list.size(), x.regions.size()),
        {{{"Operation", "", "subgraph"},
          [](const G& g) { return shortened_name(common_name(g.names), kLongestRegion); }},
         {most_best("Count", "", "count"), [](const G& g) { return whole_cell(g.names.size()); }},
         {most_best("Part", "", "value"),
          [&](const G& g) {
              return Cell{signed_value(*x.metric, g.value), g.value};
          }},
         {bar_column(), [&](const G& g) { return bar_cell(g.value, std::abs(groups.front().value)); }},
         {{"Mainly", "", "main_factor"}, [](const G& g) { return info_of(g.first->main).title; }},
         {{c.labels[e.a], "bound by", "a_bound", Align::left, 1}, bound(&RegionContribution::a_bound)},
         {{c.labels[e.b], "bound by", "b_bound", Align::left, 1}, bound(&RegionContribution::b_bound)}},
        groups);
}

/// Names that differ in numbers alone as one, with their count.
std::vector<std::string> folded_names(const std::vector<std::string>& names) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::string>> groups;
    for (const std::string& name : names) {
        auto& group = groups[name_shape(name)];
        if (group.empty())
            order.push_back(name_shape(name));
        group.push_back(name);
    }
    std::vector<std::string> folded;
    for (const std::string& shape : order) {
        const auto& group = groups[shape];
        folded.push_back(group.size() == 1 ? group.front()
                                           : fmt::format("{} x {}", group.size(), common_name(group)));
    }
    return folded;
}

Bullets bottleneck_changes(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    std::map<std::pair<Bound, Bound>, std::vector<std::string>> groups;
    for (const RegionContribution& r : x.region_contributions)
        if (r.region && r.a_bound != r.b_bound)
            groups[{r.a_bound, r.b_bound}].push_back(region_name(x, r));
    Bullets bullets;
    for (const auto& [bounds, names] : groups) {
        bullets.items.push_back(fmt::format("{} {}: {} bound on {}, {} bound on {} ({})", names.size(),
                                            names.size() == 1 ? "subgraph" : "subgraphs",
                                            name_of(bounds.first), c.labels[e.a], name_of(bounds.second),
                                            c.labels[e.b], names_text(folded_names(names), kMostNames)));
    }
    return bullets;
}

} // namespace

void add_regions_of(const ArchitectureComparison& c, const Explanation& e, Report& report) {
    if (const auto list = carrying(e.attribution, kCarried); !list.empty())
        report.blocks.push_back(region_table(c, e, list));
    if (Bullets changes = bottleneck_changes(c, e); !changes.items.empty()) {
        report.blocks.push_back(Heading{3, "Where the bottleneck changes:"});
        report.blocks.push_back(std::move(changes));
    }
}

} // namespace archsim
