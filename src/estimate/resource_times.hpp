#pragma once
// The demands of a subgraph on every resource and how long each would take alone: the terms behind its time.

#include "archsim/estimate/estimate.hpp"

#include <vector>

namespace archsim {

/// One demand, priced: seconds = amount / (rate x efficiency). Worked: 2 MB over 2 TB/s at efficiency 0.8
/// -> 1.25 us.
struct ResourceTime {
    Resource resource = Resource::seconds;
    Lane lane = Lane::overhead;
    double amount = 0; ///< cycles, bytes or seconds over all repeats
    double rate = 0;   ///< amount per second at the clock of the estimate, before `efficiency`
    double efficiency = 1;
    Parameter reason = Parameter::count_; ///< where amount or efficiency comes from; count_: none
    double seconds = 0;
};

/// Every demand of a subgraph that is executed `repeat` times, in the mapper's order. `clock_ratio` is that
/// of the estimate.
std::vector<ResourceTime> resource_times(const Mapping& mapping, const Machine& machine, double clock_ratio,
                                         double repeat);

std::string_view name_of(Lane lane); ///< "compute", "on_chip", "memory", "overhead"
/// "cycles", "bytes" or "s": what amounts of a resource are counted in.
std::string_view unit_of(Resource resource);

} // namespace archsim
