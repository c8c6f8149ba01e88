#include "estimate/wall_power.hpp"

namespace archsim {

WallPower wall_power(const Machine& machine, double device_power_w, double accelerators) {
    WallPower wall;
    wall.accelerators_w = accelerators * device_power_w;
    if (!machine.energy)
        return wall;
    wall.host_w = machine.energy->host_share.value_or(0) * accelerators * machine.device->tdp.value_or(0);
    const double drawn = wall.accelerators_w + wall.host_w;
    wall.supply_loss_w = drawn / machine.energy->supply_efficiency.value_or(1) - drawn;
    return wall;
}

} // namespace archsim
