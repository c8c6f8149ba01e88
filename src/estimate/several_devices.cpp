#include "estimate/several_devices.hpp"

namespace archsim {

void add_collectives(const SubgraphWork& work, const Machine& machine, Mapping& out) {
    if (work.collectives <= 0)
        return;
    out.add(Resource::link_bytes, Lane::overhead, work.link_bytes,
            machine.param(Parameter::link_efficiency, 1), Parameter::link_efficiency);
    out.add(Resource::seconds, Lane::overhead, work.collectives * machine.param(Parameter::link_latency, 0),
            1, Parameter::link_latency);
    // Links between devices and to the host are serial lanes off the package alike.
    out.events[Event::host_link_byte] += work.link_bytes;
}

} // namespace archsim
