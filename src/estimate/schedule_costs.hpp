#pragma once
// What the mappings of a schedule take and cost, kept for all who ask: the search for the cut of a batch, the
// search for the clock, the sums of an estimate, and the larger batch that runs this one in pieces.

#include "archsim/estimate/estimate.hpp"
#include "estimate/price.hpp"
#include "estimate/schedule.hpp"

#include <optional>
#include <vector>

namespace archsim {

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
    /// Of every mapping, valid until another clock below the full one is asked for.
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

} // namespace archsim
