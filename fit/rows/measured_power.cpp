#include "fit/rows/measured_power.hpp"

#include "estimate/wall_power.hpp"

namespace archsim {

namespace {

/// Of all of the row's devices, alone.
double device_power(const PoweredRow& p) {
    return p.estimate.power_w * p.copies;
}

/// From watts of everything to watts as stated.
double stated_share(const PoweredRow& p) {
    return p.row.boundary == PowerBoundary::wall ? 1 : 1 / (p.devices * p.copies);
}

} // namespace

double drawn_power(const PoweredRow& p) {
    const double devices = p.devices * p.copies;
    return wall_power(p.machine, device_power(p) / devices, devices).at(p.row.boundary);
}

double stated_power(const PoweredRow& p) {
    return drawn_power(p) * stated_share(p);
}

PowerParts parts_of_power(const PoweredRow& p, double item_s) {
    PowerParts parts;
    parts.family = name_of(p.machine.device->family);
    parts.item_s = item_s;
    const double drawn = drawn_power(p), devices = p.devices * p.copies;
    // The supply loses a share of what it passes on.
    const double nothing = wall_power(p.machine, 0, devices).at(p.row.boundary);
    const double scale = (drawn - nothing) / p.estimate.energy.total() * stated_share(p);
    for (std::size_t e = 0; e < kEventCount; ++e)
        parts.event_w[e] = p.estimate.energy.joules[e] * scale;
    parts.static_w = p.estimate.energy.static_joules * scale;
    if (const EnergyTable* table = p.machine.energy.get()) {
        parts.awake_w = parts.static_w * table->clocked_power.value_or(0) / table->static_power.value_or(1);
        for (std::size_t g = 0; g < kPriceGroupCount; ++g)
            parts.multiple[g] = table->multiple[g].value_or(1);
    }
    parts.outside_w = nothing * stated_share(p);
    if (p.machine.power_limit_w > 0)
        parts.limit_w =
            wall_power(p.machine, p.machine.power_limit_w, devices).at(p.row.boundary) * stated_share(p);
    return parts;
}

} // namespace archsim
