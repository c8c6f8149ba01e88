#pragma once
// The one latency formula and the one energy formula of every architecture.

#include "archsim/estimate/estimate.hpp"
#include "hardware/energy_table.hpp"
#include "map/overlap.hpp"

#include <array>
#include <vector>

namespace archsim {

/// Time of one mapping. Lanes add inside and overlap across: t = (sum_l lane_l^p)^(1/p) + overhead, with p
/// the stack's combine exponent (1 = copies run as separate passes, infinity = perfect overlap; a finite p >
/// 1 is a smooth maximum). Worked: compute 3 us, memory 4 us, p = 1 / 2 / infinity -> 7 / 5 / 4 us.
struct LaneTimes {
    std::array<double, kLaneCount> lanes{};
    double total = 0;
    Resource binding = Resource::seconds; ///< resource with the largest single time
    double weight_stream = 0;  ///< time of weight_bytes demands, when taken out for network prefetch
    double streamed_bytes = 0; ///< of those demands: they move while the whole network runs
    double dram_bytes = 0;
    double copies = 0; ///< part of the overhead lane that copies of tensors take, before or after the kernel
};

/// Whether a resource's rate follows the clock of the compute side when the power limit lowers it.
bool scales_with_clock(Resource resource);

/// `clock_ratio` scales every cycle-based rate (power limit). `prefetch_weights` takes weight_bytes demands
/// out of the memory lane: they overlap the whole network instead. `times` is overwritten where it lies:
/// loops over mappings need no copy of each.
void price_time(const Mapping& mapping, const Machine& machine, double clock_ratio, bool prefetch_weights,
                LaneTimes& times);
inline LaneTimes price_time(const Mapping& mapping, const Machine& machine, double clock_ratio,
                            bool prefetch_weights) {
    LaneTimes times;
    price_time(mapping, machine, clock_ratio, prefetch_weights, times);
    return times;
}

/// Static watts of one chip with its clock lowered: what follows the clock falls as f V^2 (EnergyTable::
/// clocked_power), the rest stays. Worked: 223 W of which 218 W follow the clock, at 0.7 of it with V^2 ~ f:
/// 5 + 218 x 0.49 = 112 W.
double static_power_at(const Machine& machine, double clock_ratio);

/// Joules per event at one clock.
class EventPrices {
  public:
    EventPrices() = default;
    EventPrices(const Machine& machine, double clock_ratio);
    /// Every price times that, above 1 those of multiply-accumulates alone: see Estimate::energy_scale.
    EventPrices scaled(double factor) const;
    /// Joules of one event.
    double operator[](Event event) const { return joules_[static_cast<std::size_t>(event)]; }
    /// Joules of counted events, without static energy.
    EnergyBreakdown of(const EventCounts& events) const;
    /// Their sum.
    double total(const EventCounts& events) const;
    /// Equal for every event.
    bool operator==(const EventPrices&) const = default;

  private:
    std::array<double, kEventCount> joules_{}; ///< zeros where energy is not priced
    std::array<double, kPrecisionCount> mac_joules_{};
};

/// Joules of counted events, each priced from the table at the voltage of the machine's clock (its mode's,
/// times `clock_ratio`). Static energy is not included.
EnergyBreakdown price_energy(const EventCounts& events, const Machine& machine, double clock_ratio,
                             double scale = 1);

/// A machine at one clock, with what that clock decides looked up once.
struct ClockedMachine {
    ClockedMachine(const Machine& at, double ratio)
        : machine(at), clock_ratio(ratio), static_w(static_power_at(at, ratio)), prices(at, ratio) {}
    const Machine& machine;
    double clock_ratio;
    double static_w; ///< of one chip
    EventPrices prices;
};

/// Joules of one event when core voltage makes dynamic energy `voltage` times nominal
/// (EnergyTable::voltage_factor). Memory devices and links have supplies of their own.
double event_price(const EnergyTable& table, Event event, double voltage);

/// Where only an estimate of the power budget is known it must not lower a clock, which measurements may
/// have fixed; the prices of events, estimates of a family too, give way instead: the factor at which average
/// power meets the budget, 1 where it does anyway. Worked: budget 6 W, static 2 W, events of 12 mJ in 2 ms:
/// (6 - 2) x 2 / 12 = 0.67.
double bounded_by_budget(const Machine& machine, double event_joules, double seconds, double clock_ratio = 1);

/// The factor on the prices of multiply-accumulates at which a board at its full clock draws what its densest
/// products are rated for (EnergyTable::rated_mac), up to the rating: that says what boost takes, so that a
/// limit lowers no clock unless it is below the rating. Worked: static 50 W, events of 40 J in 1 s, 30 J of
/// them in 20e12 multiply-accumulates that are rated at 3 pJ more: 1 + 60 / 30 = 3, and 150 W.
double up_to_rating(const Machine& machine, const EventPrices& prices, const EventCounts& events,
                    double seconds);

/// A warning for each event that was counted but has no price on this machine, and for unknown static power.
std::vector<Finding> unpriced_events(const EventCounts& events, const Machine& machine);

} // namespace archsim
