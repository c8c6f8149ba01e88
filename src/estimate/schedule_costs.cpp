#include "estimate/schedule.hpp"

#include <algorithm>

namespace archsim {

const std::vector<LaneTimes>& ScheduleCosts::times(const BatchSchedule& schedule, const Machine& machine,
                                                   double clock_ratio) {
    Times& known = times_.at(clock_ratio);
    if (known.clock_ratio != clock_ratio) {
        const bool prefetch = machine.runtime->weight_prefetch == WeightPrefetch::network;
        known.of_mapping.resize(schedule.mappings.size());
        for (std::size_t k = 0; k < schedule.mappings.size(); ++k)
            price_time(schedule.mappings[k], machine, clock_ratio, prefetch, known.of_mapping[k]);
        known.clock_ratio = clock_ratio;
    }
    return known.of_mapping;
}

const std::vector<double>& ScheduleCosts::joules(const BatchSchedule& schedule, const EventPrices& prices,
                                                 double clock_ratio) {
    Joules& known = joules_.at(clock_ratio);
    if (!known.prices || *known.prices != prices) {
        known.prices = prices;
        known.of_mapping.resize(schedule.mappings.size());
        for (std::size_t k = 0; k < schedule.mappings.size(); ++k)
            known.of_mapping[k] = prices.total(schedule.mappings[k].events);
    }
    return known.of_mapping;
}

void ScheduleCosts::forget_times() {
    times_.full().clock_ratio = times_.lowered().clock_ratio = 0;
}

void ScheduleCosts::restart() {
    forget_times();
    joules_.full().prices.reset();
    joules_.lowered().prices.reset();
}

void add_collectives(const SubgraphWork& work, const Machine& machine, Mapping& out) {
    if (work.collectives <= 0)
        return;
    out.add(Resource::link_bytes, Lane::overhead, work.link_bytes,
            machine.param(Parameter::link_efficiency, 1), Parameter::link_efficiency);
    const double start = machine.param(Parameter::link_latency, 0) +
                         machine.param(Parameter::link_latency_chip, 0) * std::max(0.0, machine.devices - 2);
    out.add(Resource::seconds, Lane::overhead, work.collectives * start, 1, Parameter::link_latency);
    // Links between devices and to the host are serial lanes off the package alike.
    out.events[Event::host_link_byte] += work.link_bytes;
}

} // namespace archsim
