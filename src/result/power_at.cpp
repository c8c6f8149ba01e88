#include "result/power_at.hpp"

#include "estimate/wall_power.hpp"

namespace archsim {

double joules_at(const Result& result, double joules, double seconds, PowerBoundary boundary) {
    if (boundary == PowerBoundary::chip || result.machine == nullptr || !(joules > 0) || !(seconds > 0))
        return joules;
    const double devices = result.devices();
    return seconds * wall_power(*result.machine, joules / (seconds * devices), devices).at(boundary);
}

double times_inside(const Result& result, PowerBoundary boundary) {
    const double device_w = result.estimate.power_w;
    return device_w > 0 ? joules_at(result, device_w, 1, boundary) / device_w : 1;
}

} // namespace archsim
