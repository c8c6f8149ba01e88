#pragma once
// From the power of a chip or module to that of the board and of the whole system at the wall, the boundaries
// of board and server measurements.

#include "archsim/estimate/estimate.hpp"
#include "archsim/map/machine.hpp"

namespace archsim {

struct WallPower {
    double accelerators_w = 0; ///< all of them
    double board_w = 0;        ///< what lies around them on their boards
    double host_w = 0;         ///< processors, memory, fans of the server around them
    double supply_loss_w = 0;
    /// At the socket.
    double total() const { return accelerators_w + board_w + host_w + supply_loss_w; }
    /// Inside the boundary.
    double at(PowerBoundary boundary) const;
};

/// P_wall = (n (P + B) + h n TDP) / eta: `accelerators` devices at `device_power_w` each on boards that draw
/// B beside them (Device::board_draw), a host that grows with what it has to feed (h:
/// EnergyTable::host_share, 0 for modules and processors that are their own host), and the supply's
/// efficiency eta. A module that runs beside a computer in the database has that one's idle power as its
/// host's. Worked: eight cards of 300 W TDP at 200 W, h = 0.2, eta = 0.93: (1600 + 480) /
/// 0.93 = 2237 W.
WallPower wall_power(const Machine& machine, double device_power_w, double accelerators = 1);

/// Where power is taken: as asked; else of a device that is named with its computer at the wall, of others at
/// the chip.
PowerBoundary boundary_of(const Device* device, std::optional<PowerBoundary> asked);

/// Joules inside that boundary while the machine's devices spend `joules` in `seconds`. A board and a host
/// draw for as long as the work takes. Worked: 100 J in 1 s on a board that draws 20 W beside its chip: 120
/// J.
double joules_at(const Machine& machine, double joules, double seconds,
                 std::optional<PowerBoundary> asked = {});

} // namespace archsim
