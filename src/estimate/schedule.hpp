#pragma once
// How a batch runs: the counts of every subgraph, each distinct mapping once.

#include "archsim/estimate/estimate.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Mappings of the whole batch: those of a piece carry the counts of all its executions.
struct BatchSchedule {
    std::vector<Mapping> mappings;    ///< subgraphs that count alike share one
    std::vector<std::uint32_t> which; ///< per subgraph, into `mappings`
    std::vector<double> pieces;       ///< executions per subgraph
    NetworkMapping network;

    const Mapping& of(std::size_t subgraph) const { return mappings[which[subgraph]]; }
};

/// Events of the batch, those of the network included.
inline EventCounts total_events(const BatchSchedule& schedule, const NetworkWork& work) {
    EventCounts total;
    for (std::size_t i = 0; i < schedule.which.size(); ++i) {
        if (const double repeat = work.subgraphs[i].repeat; repeat == 1) {
            total += schedule.of(i).events;
        } else {
            EventCounts events = schedule.of(i).events;
            total += events.scale(repeat);
        }
    }
    return total += schedule.network.fixed.events;
}

} // namespace archsim
