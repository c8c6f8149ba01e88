#include "session/idle_units.hpp"

#include "estimate/algebra.hpp"

#include <utility>

namespace archsim {

std::optional<Conditions> with_idle_units(const Conditions& conditions) {
    const double units = conditions.structure[Structure::units];
    if (!(units > 1))
        return std::nullopt;
    Conditions idle = conditions;
    idle.structure[Structure::units] = fewer_units(units);
    return idle;
}

Result faster_with_idle_units(Result all, Result fewer) {
    const Estimate &a = all.estimate, &b = fewer.estimate;
    const bool faster = all.conditions.scenario == Scenario::latency
                            ? b.latency_s < a.latency_s
                            : b.throughput_per_s > a.throughput_per_s;
    if (!fewer.ok() || !fewer.machine || (all.ok() && !faster))
        return all;
    const double idle_w = all.machine ? all.machine->static_power_w - fewer.machine->static_power_w : 0;
    fewer.estimate = beside_waiting(std::move(fewer.estimate), idle_w * fewer.machine->devices);
    fewer.conditions = std::move(all.conditions);
    return fewer;
}

} // namespace archsim
