#include "archsim/hardware/events.hpp"

namespace archsim {

std::string_view name_of(Event event) {
    switch (event) {
    case Event::mac:
        return "mac";
    case Event::vector_op:
        return "vector_op";
    case Event::special_op:
        return "special_op";
    case Event::instruction:
        return "instruction";
    case Event::register_byte:
        return "register_byte";
    case Event::l1_byte:
        return "l1_byte";
    case Event::l2_byte:
        return "l2_byte";
    case Event::llc_byte:
        return "llc_byte";
    case Event::dram_byte:
        return "dram_byte";
    case Event::coherence:
        return "coherence";
    case Event::scheduling:
        return "scheduling";
    case Event::systolic_hop:
        return "systolic_hop";
    case Event::weight_load_byte:
        return "weight_load_byte";
    case Event::accumulator_byte:
        return "accumulator_byte";
    case Event::domain_token:
        return "domain_token";
    case Event::streamer_byte:
        return "streamer_byte";
    case Event::routing_byte:
        return "routing_byte";
    case Event::configuration_byte:
        return "configuration_byte";
    case Event::host_link_byte:
        return "host_link_byte";
    case Event::host_busy_second:
        return "host_busy_second";
    case Event::count_:
        break;
    }
    return "";
}

} // namespace archsim
