#pragma once
// The time of a region as a function of few numbers, whose product and combination is the estimate exactly.

#include "answers/difference/estimate_record.hpp"
#include "result/common_regions.hpp"

#include <vector>

namespace archsim {

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

/// `index` of the side among those the regions were made from; `part` of the graph. All times are multiplied
/// by `scale` (executions per inference; inferences per batch).
DeviceTime time_model(const GraphRecord& graph, const std::vector<CommonRegion>& regions, std::size_t index,
                      std::size_t part, double scale = 1);

/// What time_model() and the energy of regions need of one graph on its device.
GraphRecord record_of_graph(const Result& leaf, RecordDetail detail);

/// Peak operations per second at the precision that runs, at the tabulated clock: of the engine that the
/// products ran on.
double executed_peak(const Result& leaf);

/// Names kernels and their operator classes, and lists the operators with work.
void add_operators(const Result& leaf, GraphRecord& out);

} // namespace archsim
