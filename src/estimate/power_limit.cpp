#include "core/same_everywhere.hpp"
#include "estimate/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace archsim {

/// Lowest clock that is looked at, as a share of the operating clock. The deepest published drop is a T4 from
/// 1590 to 585 MHz base; a design with more units or a higher clock drops deeper, down to where the smaller
/// one runs. Below the lowest voltage a lower clock saves no energy per event, so that what remains is
/// waiting.
constexpr double kLowestClockRatio = 0.01;
constexpr int kBisections = 24;
/// The lower end of the search for the least energy: the lowest clock that regulators are known to hold for
/// long.
constexpr double kLowestEfficientRatio = 0.2;

class Solver {
  public:
    Solver(const BatchSchedule& schedule, const EventCounts& events, const Machine& machine,
           ScheduleCosts& costs)
        : schedule_(schedule), network_(schedule.network), events_(events), limited_(events),
          machine_(machine), prefetch_(machine.runtime->weight_prefetch == WeightPrefetch::network),
          costs_(costs) {
        // A host beyond a link draws its power elsewhere; one that shares the memory is part of the module.
        if (machine.rate(Resource::host_link_bytes) > 0)
            limited_[Event::host_busy_second] = 0;
    }

    OperatingPoint at(double clock_ratio) {
        const std::vector<LaneTimes>& times = costs_.times(schedule_, machine_, clock_ratio);
        Sums sums;
        const std::vector<double>& repeat = schedule_.repeat;
        for (const std::uint32_t k : schedule_.which) {
            const double fixed_part = times[k].lanes[kOverhead];
            sums.body += (times[k].total - fixed_part) * repeat[k];
            sums.overhead += fixed_part * repeat[k];
        }
        for (std::size_t k = 0; k < times.size(); ++k)
            sums.slowest = std::max(sums.slowest, times[k].total * repeat[k]);
        double streamed_bytes = 0;
        if (prefetch_)
            for (const std::uint32_t k : schedule_.which) {
                sums.weights += times[k].weight_stream * repeat[k];
                streamed_bytes += times[k].streamed_bytes * repeat[k];
            }
        if (shares_dram())
            for (const std::uint32_t k : schedule_.which)
                sums.dram += times[k].dram_bytes * repeat[k];
        OperatingPoint found = point(clock_ratio, sums);
        found.body_s = sums.body;
        found.weight_stream_s = sums.weights;
        found.streamed_bytes = streamed_bytes;
        return found;
    }

    /// The same but for rounding, in a fraction of the time: for the search.
    OperatingPoint near(double clock_ratio) {
        if (split_.empty())
            split();
        Sums sums{.weights = streamed_.weights, .dram = streamed_.dram};
        for (const SplitTimes& t : split_) {
            const auto lane = [&](Lane l) {
                const auto i = static_cast<std::size_t>(l);
                return t.fixed[i] + t.of_clock[i] / clock_ratio;
            };
            const double body = combine(lane(Lane::compute), lane(Lane::on_chip), lane(Lane::memory),
                                        machine_.combine_exponent);
            const double overhead = lane(Lane::overhead);
            sums.body += body * t.executions;
            sums.overhead += overhead * t.executions;
            sums.slowest = std::max(sums.slowest, (body + overhead) * t.repeat);
        }
        return point(clock_ratio, sums);
    }

    /// Prices from here on are those of a board that draws at its full clock what it is rated for.
    void take_rating(const OperatingPoint& full) {
        rated_ = up_to_rating(machine_, prices(1), limited_, full.interval_s);
        if (rated_ > 1)
            prices_at_ = 0;
    }
    double rated() const { return rated_; }

    /// Joules per batch without static power.
    double dynamic_energy(double clock_ratio) { return prices(clock_ratio).total(events_); }

    /// The same, of what the power limit is about.
    double limited_energy(double clock_ratio) { return prices(clock_ratio).total(limited_); }

    /// At that clock; those of the last one are kept.
    const EventPrices& prices(double clock_ratio) {
        if (clock_ratio != prices_at_) {
            prices_ = EventPrices(machine_, clock_ratio).scaled(rated_);
            prices_at_ = clock_ratio;
        }
        return prices_;
    }

  private:
    static constexpr auto kOverhead = static_cast<std::size_t>(Lane::overhead);
    struct Sums {
        double body = 0, overhead = 0, weights = 0, dram = 0, slowest = 0;
    };
    /// Times of one mapping per lane: what the clock stretches, at the full clock, and the rest.
    struct SplitTimes {
        std::array<double, kLaneCount> fixed{}, of_clock{};
        double executions = 0, repeat = 0; ///< of all subgraphs that count alike; of one
    };

    /// Inferences in flight do.
    bool shares_dram() const { return machine_.scenario == Scenario::throughput && network_.instances > 1; }

    OperatingPoint point(double clock_ratio, const Sums& sums) const {
        const LaneTimes fixed = price_time(network_.fixed, machine_, clock_ratio, false);
        OperatingPoint point;
        point.clock_ratio = clock_ratio;
        point.latency_s = fixed.total + std::max(sums.body, sums.weights) + sums.overhead;
        point.interval_s = point.latency_s;
        if (network_.pipelined)
            point.interval_s = std::max(sums.slowest, sums.weights);
        if (shares_dram())
            point.interval_s =
                std::min(point.interval_s, combine(point.interval_s / network_.instances,
                                                   shared_dram(sums.dram), 0, network_.shared_exponent));
        return point;
    }

    void split() {
        split_.resize(schedule_.mappings.size());
        for (std::size_t i = 0; i < schedule_.which.size(); ++i) {
            SplitTimes& t = split_[schedule_.which[i]];
            t.executions += schedule_.repeat_of(i);
            t.repeat = schedule_.repeat_of(i);
        }
        for (std::size_t k = 0; k < split_.size(); ++k)
            for (const Demand& demand : schedule_.mappings[k].all()) {
                SplitTimes& t = split_[k];
                const double time = demand.amount / (machine_.rate(demand.resource) * demand.efficiency);
                const bool weights = demand.resource == Resource::weight_bytes;
                if (weights || demand.resource == Resource::dram_bytes)
                    streamed_.dram += demand.amount * t.executions;
                if (weights && prefetch_)
                    streamed_.weights += time * t.executions;
                else
                    (scales_with_clock(demand.resource) ? t.of_clock
                                                        : t.fixed)[static_cast<std::size_t>(demand.lane)] +=
                        time;
            }
    }

    double shared_dram(double bytes_per_batch) const {
        const double rate = machine_.rate(Resource::dram_bytes);
        return rate > 0 ? bytes_per_batch / rate : 0;
    }

    const BatchSchedule& schedule_;
    const NetworkMapping& network_;
    const EventCounts& events_;
    EventCounts limited_;
    const Machine& machine_;
    const bool prefetch_;
    ScheduleCosts& costs_;
    std::vector<SplitTimes> split_; ///< per mapping; empty: not needed yet
    Sums streamed_;                 ///< what no clock changes
    EventPrices prices_;
    double prices_at_ = 0; ///< the clock of these prices; 0: none yet
    double rated_ = 1;
};

/// A clock with the power it takes, as a share of what the limit leaves for work.
struct Probe {
    double clock = 1;
    double load = 0; ///< within the limit up to 1
};

/// The clocks between which average power passes the limit. Power is close to a power of the clock, so that a
/// secant through logarithms comes near the crossing, and a step to either side of it closes in. The secant's
/// error falls with the square of the interval, which gives the next step.
template <class Load>
static std::pair<double, double> find_crossing(Probe low, Probe high, const Load& load) {
    constexpr int kRounds = 5;
    constexpr double kFirstStep = 1.0 / 32, kLargestStep = 1.0 / 4, kSafety = 4; ///< steps: of the interval
    const double cell = (high.clock - low.clock) * std::ldexp(1.0, -kBisections);
    double root_before = 0, width_before = 0;
    for (int round = 0; round < kRounds && high.clock - low.clock > 2 * cell; ++round) {
        const double width = high.clock - low.clock;
        const double part = std::log(low.load) / (std::log(low.load) - std::log(high.load));
        const double root = same_everywhere(low.clock * std::pow(high.clock / low.clock, part));
        if (!(root > low.clock && root < high.clock)) // nothing to compute with: no work, or no end of it
            break;
        double step = width * kFirstStep;
        if (round > 0) {
            const double relative = width / width_before;
            step = kSafety * std::abs(root - root_before) * relative * relative;
        }
        step = std::clamp(step, cell, std::max(cell, width * kLargestStep));
        for (const double clock : {root - step, root + step})
            if (clock > low.clock && clock < high.clock) {
                const Probe probe{clock, load(clock)};
                (probe.load <= 1 ? low : high) = probe;
            }
        root_before = root;
        width_before = width;
    }
    return {low.clock, high.clock};
}

/// The tabulated clock, or the highest at which average power fits the limit.
static OperatingPoint within_limit(Solver& solver, const Machine& machine) {
    OperatingPoint full = solver.at(1.0);
    if (!machine.energy || machine.power_limit_w <= 0)
        return full;
    solver.take_rating(full);
    const auto budget = [&](const OperatingPoint& p) { // of one chip, as the counts are
        return machine.power_limit_w - static_power_at(machine, p.clock_ratio);
    };
    const auto joules = [&](const OperatingPoint& p) { return solver.limited_energy(p.clock_ratio); };
    constexpr double kAtRating = 1 + 1e-12; // a board that is at its rating is within it
    const auto fits = [&](const OperatingPoint& p) {
        return joules(p) <= budget(p) * p.interval_s * kAtRating;
    };
    if (fits(full))
        return full;
    OperatingPoint low = solver.near(kLowestClockRatio);
    if (!fits(low)) {
        low = solver.at(kLowestClockRatio);
        low.limited = true;
        const double stretched = joules(low) / budget(low);
        low.latency_s *= stretched / low.interval_s;
        low.interval_s = stretched;
        return low;
    }
    // Where static power alone exceeds the limit, nothing is within reach.
    constexpr double kOutOfReach = 1e6;
    const auto load = [&](const OperatingPoint& p) {
        const double room = budget(p) * p.interval_s;
        return room > 0 ? std::min(kOutOfReach, joules(p) / room) : kOutOfReach;
    };
    auto [within, beyond] = find_crossing({kLowestClockRatio, load(low)}, {1.0, load(full)},
                                          [&](double clock) { return load(solver.near(clock)); });
    // The clock itself comes from bisection, so that it does not depend on where the secants fell; only what
    // the crossing leaves open is tried.
    double high = 1.0;
    for (int i = 0; i < kBisections; ++i) {
        const double middle = (low.clock_ratio + high) / 2;
        if (middle > within && middle < beyond)
            (fits(solver.near(middle)) ? within : beyond) = middle;
        (middle <= within ? low.clock_ratio : high) = middle;
    }
    low = solver.at(low.clock_ratio);
    low.limited = true;
    return low;
}

/// The clock with the least energy per inference of the whole system: a lower clock saves voltage but pays
/// static and host power for longer. Worked: static and host 108 W, dynamic 220 W at full clock, dynamic
/// energy ~ clock: the sum 108 / r + 220 r is least at r = 0.70.
static OperatingPoint most_efficient(Solver& solver, const Machine& machine, const OperatingPoint& fastest) {
    const double host_w = machine.energy->host_share.value_or(0) * machine.device->tdp.value_or(0);
    const auto joules = [&](const OperatingPoint& p) {
        return solver.dynamic_energy(p.clock_ratio) +
               (static_power_at(machine, p.clock_ratio) + host_w) * p.interval_s;
    };
    constexpr double kGolden = 0.6180339887498949;
    double low = std::min(kLowestEfficientRatio, fastest.clock_ratio), high = fastest.clock_ratio;
    OperatingPoint left = solver.near(high - kGolden * (high - low)),
                   right = solver.near(low + kGolden * (high - low));
    for (int i = 0; i < kBisections; ++i)
        if (joules(left) < joules(right)) {
            high = right.clock_ratio;
            right = left;
            left = solver.near(high - kGolden * (high - low));
        } else {
            low = left.clock_ratio;
            left = right;
            right = solver.near(low + kGolden * (high - low));
        }
    return joules(right) < joules(fastest) ? solver.at(right.clock_ratio) : fastest;
}

double least_static_power(const Machine& machine) {
    return static_power_at(machine, kLowestClockRatio);
}

OperatingPoint settle_clock(const BatchSchedule& schedule, const EventCounts& events, const Machine& machine,
                            ScheduleCosts& costs) {
    Solver solver(schedule, events, machine, costs);
    OperatingPoint point = within_limit(solver, machine);
    if (machine.efficient_clock && machine.energy)
        point = most_efficient(solver, machine, point);
    point.rated = solver.rated();
    point.prices =
        point.rated > 1 ? EventPrices(machine, point.clock_ratio) : solver.prices(point.clock_ratio);
    return point;
}

} // namespace archsim
