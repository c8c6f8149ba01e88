#include "estimate/resource_times.hpp"

#include "estimate/price.hpp"

namespace archsim {

std::vector<ResourceTime> resource_times(const Mapping& mapping, const Machine& machine, double clock_ratio,
                                         double repeat) {
    std::vector<ResourceTime> times;
    for (const Demand& demand : mapping.all()) {
        ResourceTime time;
        time.resource = demand.resource;
        time.lane = demand.lane;
        time.amount = demand.amount * repeat;
        time.rate = machine.rate(demand.resource) * (scales_with_clock(demand.resource) ? clock_ratio : 1);
        time.efficiency = demand.efficiency;
        time.reason = demand.reason;
        time.seconds = time.amount / (time.rate * time.efficiency);
        times.push_back(time);
    }
    return times;
}

std::string_view name_of(Lane lane) {
    switch (lane) {
    case Lane::compute:
        return "compute";
    case Lane::on_chip:
        return "on_chip";
    case Lane::memory:
        return "memory";
    case Lane::overhead:
        break;
    }
    return "overhead";
}

std::string_view unit_of(Resource resource) {
    switch (resource) {
    case Resource::matrix_cycles:
    case Resource::vector_cycles:
    case Resource::special_cycles:
    case Resource::overhead_cycles:
        return "cycles";
    case Resource::l1_bytes:
    case Resource::l2_bytes:
    case Resource::llc_bytes:
    case Resource::dram_bytes:
    case Resource::weight_bytes:
    case Resource::link_bytes:
    case Resource::host_link_bytes:
        return "bytes";
    case Resource::seconds:
    case Resource::count_:
        break;
    }
    return "s";
}

} // namespace archsim
