#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/cells.hpp"

#include "report/blocks/number_format.hpp"
#include "result/shown_pass.hpp"

#include <fmt/format.h>

#include <algorithm>

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

Table subgraph_table(const Result& result) {
    double largest = 0;
    for (const SubgraphEstimate& s : result.estimate.subgraphs)
        largest = std::max(largest, s.energy.total());
    const UnitOfColumn joules = energy_unit(largest);
    Table table;
    table.title = with_pass("Subgraphs", result);
    table.columns = {{"Subgraph", "", "subgraph"},
                     {"Kind", "", "kind"},
                     {"Time", "µs", "latency_s", Align::right},
                     {"Bound by", "", "binding"},
                     {"Compute", "µs", "compute_s", Align::right, 2},
                     {"On-chip", "µs", "on_chip_s", Align::right, 3},
                     {"Memory", "µs", "memory_s", Align::right, 2},
                     {"Fixed", "µs", "overhead_s", Align::right, 2},
                     {"Util", "%", "utilization", Align::right, 1},
                     {"Energy", joules.name, "energy_j", Align::right, 1},
                     {"Allocation", "", "allocation", Align::left, 4}};
    const std::string_view unit = unit_name(*result.device);
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const Subgraph& subgraph = result.partition->subgraphs[s.index];
        const auto lane = [&](Lane l) {
            const double time = s.lane_s[static_cast<std::size_t>(l)];
            return cell_in(1e-6, time);
        };
        table.rows.push_back({{subgraph.name},
                              {std::string(name_of(subgraph.kind))},
                              cell_in(1e-6, s.latency_s),
                              {bound_label(s.bound, s.binding)},
                              lane(Lane::compute),
                              lane(Lane::on_chip),
                              lane(Lane::memory),
                              lane(Lane::overhead),
                              percent_cell(s.utilization),
                              cell_in(joules.factor, s.energy.total()),
                              {s.pieces > 1 ? fmt::format("{} pieces of the batch: {}", s.pieces,
                                                          allocation_text(s.mapping.allocation, unit))
                                            : allocation_text(s.mapping.allocation, unit)}});
    }
    if (const auto outside = outside_subgraphs(result)) {
        std::vector<Cell>& row = table.rows.emplace_back(table.columns.size());
        row[0].text = "outside subgraphs";
        row[2] = cell_in(1e-6, outside->latency_s);
        row[9] = cell_in(joules.factor, outside->energy_j);
    }
    return table;
}

} // namespace archsim
