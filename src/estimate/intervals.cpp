#include "estimate/intervals.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

KnownWidths::Widths look_up(const Machine& machine, SpreadOf timed) {
    const UncertaintyTable& table = *machine.uncertainty;
    const auto parts = [&](SpreadOf metric) { return table.parts(metric, *machine.device, *machine.runtime); };
    KnownWidths::Widths widths;
    widths.time = parts(timed);
    widths.energy = parts(SpreadOf::energy);
    widths.rate = machine.scenario == Scenario::throughput ? parts(SpreadOf::throughput) : widths.time;
    widths.reach = table.reach();
    const SpreadOf shown =
        machine.scenario == Scenario::throughput && timed == SpreadOf::latency ? SpreadOf::throughput : timed;
    widths.basis = table.spread(timed, *machine.device, *machine.runtime).basis;
    widths.projected = !table.measured(*machine.device, *machine.runtime, timed) &&
                       !table.measured(*machine.device, *machine.runtime, shown);
    return widths;
}

} // namespace

LaneShares lane_shares(const Estimate& e) {
    const double all = e.compute_bound + e.memory_bound + e.overhead_bound;
    if (all <= 0)
        return {1, 0, 0};
    return {e.compute_bound / all, e.memory_bound / all, e.overhead_bound / all};
}

void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e) {
    KnownWidths none;
    add_intervals(machine, timed, e, none);
}

void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e, KnownWidths& known) {
    e.latency_interval = {e.latency_s, e.latency_s};
    e.throughput_interval = {e.throughput_per_s, e.throughput_per_s};
    e.energy_interval = {e.energy_per_inference_j, e.energy_per_inference_j};
    if (!machine.uncertainty)
        return;
    if (!known.widths)
        known.widths = look_up(machine, timed);
    const KnownWidths::Widths& widths = *known.widths;
    double squares = 0;
    for (const double share : lane_shares(e))
        squares += share * share;
    const auto factor = [&](const ErrorParts& parts) {
        return std::exp(widths.reach * std::sqrt(parts.total(squares)));
    };
    const double time = factor(widths.time);
    const double rate = machine.scenario == Scenario::throughput ? factor(widths.rate) : time;
    // Power times time: what is not known of the time is not known of the energy either.
    const double energy = std::max(time, factor(widths.energy));
    e.latency_interval = {e.latency_s / time, e.latency_s * time};
    e.throughput_interval = {e.throughput_per_s / rate, e.throughput_per_s * rate};
    e.energy_interval = {e.energy_per_inference_j / energy, e.energy_per_inference_j * energy};
    e.interval_basis = widths.basis;
    e.projected = widths.projected;
}

} // namespace archsim
