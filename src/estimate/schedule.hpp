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
    bool by_class = false; ///< whole classes of the network share mappings, several of them one

    const Mapping& of(std::size_t subgraph) const { return mappings[which[subgraph]]; }
    /// Of what total_events() counts together: a class by its first subgraph, or a mapping.
    const Mapping& of_kind(std::size_t kind) const { return by_class ? of(kind) : mappings[kind]; }
};

/// Events of the batch, those of the network included. Of classes that share a mapping each is added for
/// itself, so that the sum does not depend on which of them do.
inline EventCounts total_events(const BatchSchedule& schedule, const NetworkWork& work) {
    const std::vector<std::uint32_t>& kind = schedule.by_class ? work.representatives : schedule.which;
    std::vector<double> executions(schedule.by_class ? kind.size() : schedule.mappings.size());
    for (std::size_t i = 0; i < kind.size(); ++i)
        executions[kind[i]] += work.subgraphs[i].repeat;
    EventCounts total = schedule.network.fixed.events;
    for (std::size_t k = 0; k < executions.size(); ++k)
        if (!schedule.by_class || kind[k] == k)
            total.add(schedule.of_kind(k).events, executions[k]);
    return total;
}

} // namespace archsim
