#pragma once
// What a network pays for being spread over several devices.

#include "archsim/estimate/estimate.hpp"

namespace archsim {

/// Demands of the collectives after a subgraph: start-up of each (Parameter::link_latency), then the chip's
/// own traffic at the share of the link that rings reach (Parameter::link_efficiency). Worked: all-reduce of
/// 8 MiB over 8 devices, 450 GB/s, 0.36, 14 us: 14 us + 2 x 7/8 x 8.4 MB / 162 GB/s = 105 us.
void add_collectives(const SubgraphWork& work, const Machine& machine, Mapping& out);

} // namespace archsim
