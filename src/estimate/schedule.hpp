#pragma once
// How a batch runs: the counts of every subgraph, each distinct mapping once, and what these take and cost,
// kept for all who ask: the search for the cut of a batch, the search for the clock, the sums of an estimate,
// and the larger batch that runs this one in pieces.

#include "estimate/price.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace archsim {

/// Mappings of the whole batch: those of a piece carry the counts of all its executions.
struct BatchSchedule {
    std::vector<Mapping> mappings;    ///< an equivalence class shares one
    std::vector<double> repeat;       ///< per mapping: of each subgraph that has it
    std::vector<std::uint32_t> which; ///< per subgraph, into `mappings`
    std::vector<double> pieces;       ///< executions per subgraph
    NetworkMapping network;
    bool by_class = false; ///< whole classes of the network share mappings, several of them one

    const Mapping& of(std::size_t subgraph) const { return mappings[which[subgraph]]; }
    double repeat_of(std::size_t subgraph) const { return repeat[which[subgraph]]; }
    /// One of those that total_events() counts together: a class by its first subgraph, or a mapping.
    const Mapping& of_kind(std::size_t kind) const { return by_class ? of(kind) : mappings[kind]; }
};

/// Adds what happens `times` times. An even number of sums that nothing else can point to: the compiler adds
/// two at once.
template <std::size_t N>
void add_times(const std::array<double, N>& counts, double times, std::array<double, N>& sums) {
    constexpr std::size_t kEven = N / 2 * 2;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kEven; ++i)
        sums[i] += times * counts[i];
    if constexpr (N % 2 != 0)
        sums[N - 1] += times * counts[N - 1];
}

/// Events of the batch, those of the network included. Of classes that share a mapping each is added for
/// itself, so that the sum does not depend on which of them do.
inline EventCounts total_events(const BatchSchedule& schedule, const NetworkWork& work) {
    const std::vector<std::uint32_t>& kind = schedule.by_class ? work.representatives : schedule.which;
    std::vector<double> executions(schedule.by_class ? kind.size() : schedule.mappings.size());
    for (std::size_t i = 0; i < kind.size(); ++i)
        executions[kind[i]] += schedule.repeat_of(i);
    std::array<double, kEventCount> counts = schedule.network.fixed.events.counts;
    std::array<double, kPrecisionCount> macs = schedule.network.fixed.events.macs;
    for (std::size_t k = 0; k < executions.size(); ++k)
        if (!schedule.by_class || kind[k] == k) {
            const EventCounts& events = schedule.of_kind(k).events;
            add_times(events.counts, executions[k], counts);
            add_times(events.macs, executions[k], macs);
        }
    EventCounts total;
    total.counts = counts;
    total.macs = macs;
    return total;
}

/// Values at the full clock, which nearly all ask for, and at the last other one.
template <class Known>
class PerClock {
  public:
    Known& at(double clock_ratio) { return clock_ratio == 1 ? full_ : lowered_; }
    Known& full() { return full_; }
    Known& lowered() { return lowered_; }

  private:
    Known full_, lowered_;
};

class ScheduleCosts {
  public:
    const std::vector<LaneTimes>& times(const BatchSchedule& schedule, const Machine& machine,
                                        double clock_ratio);
    /// Joules of every mapping at the prices, those of that clock. A sweep of rates asks for the same again
    /// and again.
    const std::vector<double>& joules(const BatchSchedule& schedule, const EventPrices& prices,
                                      double clock_ratio);
    /// From now on the machine has other rates.
    void forget_times();
    /// From now on of another schedule.
    void restart();

  private:
    struct Times {
        double clock_ratio = 0; ///< 0: none yet
        std::vector<LaneTimes> of_mapping;
    };
    struct Joules {
        std::optional<EventPrices> prices;
        std::vector<double> of_mapping;
    };
    PerClock<Times> times_;
    PerClock<Joules> joules_;
};

/// Demands of the collectives after a subgraph: start-up of each (Parameter::link_latency), then the chip's
/// own traffic at the share of the link that rings reach (Parameter::link_efficiency). Worked: all-reduce of
/// 8 MiB over 8 devices, 450 GB/s, 0.36, 14 us: 14 us + 2 x 7/8 x 8.4 MB / 162 GB/s = 105 us.
void add_collectives(const SubgraphWork& work, const Machine& machine, Mapping& out);

// The clock a machine settles at: as tabulated, or lower where energy over time exceeds the power limit.

struct OperatingPoint {
    double clock_ratio = 1; ///< of the tabulated operating clock
    double latency_s = 0;   ///< one batch
    double interval_s = 0;  ///< time between finished batches when saturated; equals latency_s for one stream
    bool limited = false;
    // Over all subgraphs: time beside overhead, and of weights that are fetched ahead the time and the bytes.
    double body_s = 0, weight_stream_s = 0, streamed_bytes = 0;
    EventPrices prices = {}; ///< at this clock
    double rated = 1;        ///< up_to_rating(), at whichever clock
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
