#include "estimate/intervals.hpp"

#include <algorithm>

namespace archsim {

void add_intervals(const Machine& machine, SpreadOf timed, Estimate& e) {
    e.latency_interval = {e.latency_s, e.latency_s};
    e.throughput_interval = {e.throughput_per_s, e.throughput_per_s};
    e.energy_interval = {e.energy_per_inference_j, e.energy_per_inference_j};
    if (!machine.uncertainty)
        return;
    const std::string_view regime = e.overhead_bound >= std::max(e.compute_bound, e.memory_bound) ? "overhead"
                                    : e.compute_bound >= e.memory_bound                           ? "compute"
                                                                                                  : "memory";
    const auto width = [&](SpreadOf metric) {
        return machine.uncertainty->spread(metric, *machine.device, *machine.runtime, regime);
    };
    const Spread time = width(timed);
    Spread energy = width(SpreadOf::energy);
    // Power times time: what is not known of the time is not known of the energy either.
    energy.low = std::min(energy.low, time.low);
    energy.high = std::max(energy.high, time.high);
    const Spread rate = machine.scenario == Scenario::throughput ? width(SpreadOf::throughput) : time;
    e.latency_interval = {e.latency_s * time.low, e.latency_s * time.high};
    e.throughput_interval = {e.throughput_per_s / rate.high, e.throughput_per_s / rate.low};
    e.energy_interval = {e.energy_per_inference_j * energy.low, e.energy_per_inference_j * energy.high};
    e.interval_basis = time.basis;
    e.projected = !machine.uncertainty->measured(*machine.device, *machine.runtime);
}

} // namespace archsim
