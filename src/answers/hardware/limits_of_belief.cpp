#include "answers/hardware/hardware_list.hpp"

#include "report/blocks/columns.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace archsim {

namespace {

Cell width_cell(const Spread& spread) {
    return {fmt::format("{:.2f} to {:.2f}", spread.low, spread.high),
            {},
            Tone::plain,
            {},
            CellKind::number,
            CellInterval{spread.low, 1, spread.high}};
}

std::string_view words_of(const BeliefRow& row) {
    return row.projected                      ? "projected"
           : row.evidence == Evidence::device ? "measured on this device"
           : row.evidence == Evidence::stack  ? "stack fitted on its kin"
                                              : "measured, not fitted";
}

Table family_table(Family family, const std::vector<BeliefRow>& rows) {
    std::vector<BeliefRow> own;
    std::ranges::copy_if(rows, std::back_inserter(own),
                         [&](const BeliefRow& row) { return row.device->family == family; });
    using R = BeliefRow;
    constexpr const char* kWidth = "measured / estimated, 90 %";
    return table_of<R>(
        {},
        {{{"Device", "", "hardware"}, [](const R& row) { return row.device->id; }},
         {{"Stack", "", "runtime"}, [](const R& row) { return row.runtime->id; }},
         {{"Basis", "", "belief"},
          [](const R& row) { return toned_cell(words_of(row), row.projected ? Tone::muted : Tone::plain); }},
         {{"Time", kWidth, "latency_factor_low", Align::left, 0, BestIs::least, "latency_factor_high"},
          [](const R& row) { return width_cell(row.latency); }},
         {{"Energy", kWidth, "energy_factor_low", Align::left, 0, BestIs::least, "energy_factor_high"},
          [](const R& row) { return row.energy_known ? width_cell(row.energy) : Cell{}; }},
         {{"What the width comes from", "", "basis"}, [](const R& row) { return row.latency.basis; }}},
        own);
}

/// "12 of 19 devices are measured or of a measured kind; projected: A, B."
std::string summary(Family family, const std::vector<BeliefRow>& rows) {
    std::vector<std::string> projected;
    std::set<std::string> stacks;
    std::size_t all = 0;
    for (const BeliefRow& row : rows) {
        if (row.device->family != family)
            continue;
        ++all;
        if (row.projected)
            projected.push_back(row.device->id);
        else
            stacks.insert(row.runtime->id);
    }
    std::string text = fmt::format("{} of {} devices stand on measurements of themselves or of their kind",
                                   all - projected.size(), all);
    if (!stacks.empty())
        text += fmt::format(", under {}", fmt::join(stacks, ", "));
    if (!projected.empty())
        text += fmt::format("; projected: {}", fmt::join(projected, ", "));
    return text + ".";
}

} // namespace

std::vector<BeliefRow> beliefs(const HardwareDatabase& database, const UncertaintyTable& table) {
    std::vector<BeliefRow> rows;
    std::vector<Finding> findings;
    for (const auto& device : database.all_devices(findings)) {
        if (device->default_runtime.empty())
            continue;
        BeliefRow row;
        row.device = device;
        row.runtime = database.runtime(device->default_runtime);
        row.evidence = table.evidence(*device, *row.runtime, SpreadOf::latency);
        row.projected = !table.held().measured(*device, *row.runtime, TimeKind::inference) &&
                        !table.held().measured(*device, *row.runtime, TimeKind::decode);
        row.latency = table.spread(SpreadOf::latency, *device, *row.runtime);
        row.energy = table.spread(SpreadOf::energy, *device, *row.runtime);
        row.energy_known = device->active_idle.known() || device->tdp.known();
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, [](const BeliefRow& a, const BeliefRow& b) {
        return std::pair(a.device->family, a.device->id) < std::pair(b.device->family, b.device->id);
    });
    return rows;
}

Report describe(const std::vector<BeliefRow>& rows) {
    Report report{"Limits of belief", {}};
    add_blocks(
        report, Heading{1, report.title},
        Paragraph{"The evidence behind an estimate, per device under its default software stack, and the "
                  "factors of "
                  "the "
                  "estimate between which a measurement lies with nominal 90 % probability (compute-bound "
                  "networks). A "
                  "projection has no measurement of its device under its stack, nor of a device whose "
                  "parameters the "
                  "stack shares with it: comparisons show it with its rank in brackets and do not rank it."});
    for (const Family family : families()) {
        if (std::ranges::none_of(rows, [&](const BeliefRow& row) { return row.device->family == family; }))
            continue;
        add_blocks(report, Heading{2, std::string(title_of(family))}, Paragraph{summary(family, rows)},
                   family_table(family, rows));
    }
    return report;
}

} // namespace archsim
