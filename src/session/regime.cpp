#include "session/regime.hpp"

#include <algorithm>
#include <array>

namespace archsim {

std::string regime_of(const Estimate& estimate) {
    std::array<double, 3> seconds{};
    seconds[static_cast<std::size_t>(Bound::overhead)] = estimate.network_s - estimate.weights_wait_s;
    seconds[static_cast<std::size_t>(Bound::memory)] = estimate.weights_wait_s;
    for (const SubgraphEstimate& subgraph : estimate.subgraphs)
        seconds[static_cast<std::size_t>(subgraph.bound)] += subgraph.latency_s;
    const auto most = std::max_element(seconds.begin(), seconds.end()) - seconds.begin();
    return std::string(name_of(static_cast<Bound>(most)));
}

} // namespace archsim
