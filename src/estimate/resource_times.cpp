#include "estimate/resource_times.hpp"

#include "core/text.hpp"
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
    static constexpr std::string_view kNames[] = {"compute", "on_chip", "memory", "overhead"};
    return name_in(kNames, lane);
}

std::string_view unit_of(Resource resource) {
    static constexpr std::string_view kNames[] = {"cycles", "cycles", "cycles", "bytes", "bytes",  "bytes",
                                                  "bytes",  "bytes",  "bytes",  "bytes", "cycles", "s"};
    return name_in(kNames, resource);
}

} // namespace archsim
