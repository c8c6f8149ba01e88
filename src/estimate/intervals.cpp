#include "estimate/intervals.hpp"

#include <algorithm>
#include <string_view>

namespace archsim {

namespace {

constexpr std::array<std::string_view, 3> kRegimes = {"compute", "memory", "overhead"};

KnownWidths::Widths look_up(const Machine& machine, SpreadOf timed, std::string_view regime) {
    const auto width = [&](SpreadOf metric) {
        return machine.uncertainty->spread(metric, *machine.device, *machine.runtime, regime);
    };
    KnownWidths::Widths widths;
    widths.time = width(timed);
    widths.energy = width(SpreadOf::energy);
    // Power times time: what is not known of the time is not known of the energy either.
    widths.energy.low = std::min(widths.energy.low, widths.time.low);
    widths.energy.high = std::max(widths.energy.high, widths.time.high);
    widths.rate = machine.scenario == Scenario::throughput ? width(SpreadOf::throughput) : widths.time;
    widths.projected = !machine.uncertainty->measured(*machine.device, *machine.runtime);
    return widths;
}

} // namespace

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
    const std::size_t regime = e.overhead_bound >= std::max(e.compute_bound, e.memory_bound) ? 2
                               : e.compute_bound >= e.memory_bound                           ? 0
                                                                                             : 1;
    auto& widths = known.by_regime[regime];
    if (!widths)
        widths = look_up(machine, timed, kRegimes[regime]);
    const Spread &time = widths->time, &energy = widths->energy, &rate = widths->rate;
    e.latency_interval = {e.latency_s * time.low, e.latency_s * time.high};
    e.throughput_interval = {e.throughput_per_s / rate.high, e.throughput_per_s / rate.low};
    e.energy_interval = {e.energy_per_inference_j * energy.low, e.energy_per_inference_j * energy.high};
    e.interval_basis = time.basis;
    e.projected = widths->projected;
}

} // namespace archsim
