#include "session/generation/step.hpp"

namespace archsim {

double stage_hops(const Machine& machine, const Parallelism& way, double rows, double hidden) {
    constexpr double kActivationBytes = 2; // 16 bits, whatever products take
    const Device& device = *machine.device;
    const auto stage_devices = static_cast<double>(way.stage_devices()),
               stages = static_cast<double>(way.pipeline);
    const bool apart = device.node_devices > 0 && device.network_bandwidth.known() && stages > 1 &&
                       stage_devices >= device.node_devices;
    const double link = apart ? device.network_bandwidth.value : machine.rate(Resource::link_bytes);
    const double rate = link * machine.param(Parameter::link_efficiency, 1);
    // Every chip of a stage sends its part.
    const double bytes = kActivationBytes * rows * hidden / stage_devices;
    return (stages - 1) * (machine.param(Parameter::link_latency, 0) + (rate > 0 ? bytes / rate : 0));
}

} // namespace archsim
