#pragma once
// The clock a machine settles at: as tabulated, or lower where energy over time exceeds the power limit.

#include "estimate/schedule.hpp"

namespace archsim {

struct OperatingPoint {
    double clock_ratio = 1; ///< of the tabulated operating clock
    double latency_s = 0;   ///< one batch
    double interval_s = 0;  ///< time between finished batches when saturated; equals latency_s for one stream
    bool limited = false;
    // Of all subgraphs: time beside overhead, and of weights that are fetched ahead the time and the bytes.
    double body_s = 0, weight_stream_s = 0, streamed_bytes = 0;
    EventPrices prices = {}; ///< at this clock
};

/// Latency at a given clock, then the highest clock whose average power fits the limit. Where even the lowest
/// clock does not fit, the machine pauses: time is stretched until energy / time equals the limit. With
/// Machine::efficient_clock, the clock of least energy per inference instead.
/// `events` are those of the whole batch: total_events(schedule, work). `costs`, of the same schedule, then
/// has the times at the clock of the result.
OperatingPoint settle_clock(const BatchSchedule& schedule, const EventCounts& events, const Machine& machine,
                            ScheduleCosts& costs);

/// Static watts of one chip at the lowest clock.
double least_static_power(const Machine& machine);

} // namespace archsim
