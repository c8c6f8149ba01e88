#include "estimate/wall_power.hpp"

#include "hardware/energy_table.hpp"

namespace archsim {

double WallPower::at(PowerBoundary boundary) const {
    switch (boundary) {
    case PowerBoundary::wall:
        return total();
    case PowerBoundary::board:
        return accelerators_w + board_w;
    default: // memory and regulators belong to what a device's prices and static power count
        return accelerators_w;
    }
}

WallPower wall_power(const Machine& machine, double device_power_w, double accelerators) {
    WallPower wall{.accelerators_w = accelerators * device_power_w,
                   .board_w = accelerators * machine.device->board_draw.value_or(0)};
    const bool known_host = machine.host && machine.host->idle.known(); // a module on a computer of its own
    if (known_host)
        wall.host_w = machine.host->idle.value;
    if (!machine.energy)
        return wall;
    if (!known_host)
        wall.host_w = machine.energy->host_share.value_or(0) * accelerators * machine.device->tdp.value_or(0);
    const double drawn = wall.accelerators_w + wall.board_w + wall.host_w;
    wall.supply_loss_w = drawn / machine.energy->supply_efficiency.value_or(1) - drawn;
    return wall;
}

PowerBoundary boundary_of(const Device* device, std::optional<PowerBoundary> asked) {
    return asked.value_or(device != nullptr && device->in_computer ? PowerBoundary::wall
                                                                   : PowerBoundary::chip);
}

double joules_at(const Machine& machine, double joules, double seconds, std::optional<PowerBoundary> asked) {
    const PowerBoundary at = boundary_of(machine.device.get(), asked);
    if (at == PowerBoundary::chip || !(joules > 0) || !(seconds > 0))
        return joules;
    return seconds * wall_power(machine, joules / (seconds * machine.devices), machine.devices).at(at);
}

} // namespace archsim
