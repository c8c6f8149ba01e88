#include "fit/parameters/clock_runs.hpp"

#include "estimate/price.hpp"

#include <algorithm>

namespace archsim {

namespace {

PowerParts parts_at(const Machine& machine, const ClockAtLimit& at) {
    const EnergyTable& table = *machine.energy;
    const double highest = machine.rate(Resource::overhead_cycles), clock = at.clock.value;
    const double matrix = machine.matrix_ops(at.precision);
    const double per_clock = matrix > 0 ? matrix : machine.vector_ops(at.precision);
    PowerParts parts;
    parts.family = name_of(machine.device->family);
    parts.static_w = static_power_at(machine, clock / highest);
    const double stands = machine.static_power_w - table.clocked_power.value_or(0);
    parts.awake_w = table.clocked_power.known() ? std::max(0.0, parts.static_w - stands) : 0;
    parts.event_w[static_cast<std::size_t>(Event::mac)] =
        at.share.value * per_clock * clock * table.operation[static_cast<std::size_t>(at.precision)] *
        table.voltage_factor(clock);
    for (std::size_t g = 0; g < kPriceGroupCount; ++g)
        parts.multiple[g] = table.multiple[g].value_or(1);
    return parts;
}

} // namespace

std::vector<MeasuredRow> clocks_as_rows(const Session& session) {
    std::vector<MeasuredRow> rows;
    for (const ClockAtLimit& at : session.energy().clocks_at_limit()) {
        MeasuredRow row;
        row.id = at.device + " at its power limit";
        row.model = "multiply-adds at the power limit";
        row.hardware = at.device;
        row.metric = MeasuredMetric::power_w;
        row.value = session.machine(at.device)->power_limit_w;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::map<std::string, std::vector<PricedRun>> clock_runs(const Session& session,
                                                         const std::vector<MeasuredRow>& rows) {
    std::map<std::string, std::vector<PricedRun>> runs;
    const std::vector<ClockAtLimit>& clocks = session.energy().clocks_at_limit();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        PricedRun run;
        run.measured_w = rows[i].value;
        run.parts = parts_at(*session.machine(clocks[i].device), clocks[i]);
        run.row = &rows[i];
        runs[run.parts.family].push_back(run);
    }
    return runs;
}

} // namespace archsim
