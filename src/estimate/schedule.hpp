#pragma once
// How a batch runs: the counts of every subgraph, each distinct mapping once.

#include "archsim/estimate/estimate.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// Mappings of the whole batch: those of a piece carry the counts of all its executions.
struct BatchSchedule {
    std::vector<Mapping> mappings;    ///< an equivalence class shares one
    std::vector<std::uint32_t> which; ///< per subgraph, into `mappings`
    std::vector<double> pieces;       ///< executions per subgraph
    NetworkMapping network;

    const Mapping& of(std::size_t subgraph) const { return mappings[which[subgraph]]; }
};

/// Events of the batch, those of the network included.
inline EventCounts total_events(const BatchSchedule& schedule, const NetworkWork& work) {
    std::vector<double> executions(schedule.mappings.size());
    for (std::size_t i = 0; i < schedule.which.size(); ++i)
        executions[schedule.which[i]] += work.subgraphs[i].repeat;
    EventCounts total = schedule.network.fixed.events;
    for (std::size_t k = 0; k < executions.size(); ++k)
        total.add(schedule.mappings[k].events, executions[k]);
    return total;
}

} // namespace archsim
