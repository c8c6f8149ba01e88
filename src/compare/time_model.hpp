#pragma once
// The time of a region as a function of few numbers, whose product and combination is the estimate exactly.

#include "archsim/compare/common_regions.hpp"

#include <vector>

namespace archsim {

/// One region (or the network's fixed part) on one device.
struct RegionTime {
    double compute_s = 0;                        ///< of the compute lane, at the clock that runs
    double device_operations = 0;                ///< useful operations that the device executes, not its host
    double on_chip_clocked_s = 0, on_chip_s = 0; ///< at full clock; part that no clock scales
    double bytes = 0, memory_s = 0;              ///< activations
    double weight_bytes = 0, weight_s = 0;       ///< weights
    double fixed_clocked_s = 0, fixed_s = 0;     ///< per kernel and layer
    double host_s = 0;                           ///< unsupported operators and transfers
    double body_s = 0;        ///< overlapped part as estimated, without fixed and host time
    double serialisation = 1; ///< body / combine(lanes): subgraphs of one region do not overlap each other
};

/// One device (on one graph).
struct DeviceTime {
    double peak = 0;      ///< operations per second at full clock
    double bandwidth = 0; ///< bytes per second; infinite without external memory
    double exponent = 4;
    double clock_ratio = 1;
    double stretch = 1;              ///< pauses of a device that exceeds its power limit at its lowest clock
    double concurrency = 1;          ///< interval between batches over latency
    bool prefetch = false;           ///< weights stream ahead over the whole network
    std::vector<RegionTime> regions; ///< one per common region of this graph
    RegionTime network;              ///< once per inference
};

/// `index` of the result among those the regions were made from; `part` of the graph.
DeviceTime time_model(const Result& leaf, const std::vector<CommonRegion>& regions, std::size_t index,
                      std::size_t part);

/// Peak operations per second at the precision that runs, at the tabulated clock: of the engine that the
/// products ran on.
double executed_peak(const Result& leaf);

} // namespace archsim
