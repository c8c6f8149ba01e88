#include "estimate/several_devices.hpp"

#include <algorithm>

namespace archsim {

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
