#include "estimate/power_limit.hpp"

#include "estimate/price.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

/// Lowest clock regulators use, as a share of the operating clock; the deepest published drop is a T4 from
/// 1590 to 585 MHz base.
constexpr double kLowestClockRatio = 0.2;
constexpr int kBisections = 24;

class Solver {
  public:
    Solver(const std::vector<Mapping>& mappings, const NetworkMapping& network, const NetworkWork& work,
           const Machine& machine)
        : mappings_(mappings), network_(network), work_(work), machine_(machine) {
        for (std::size_t i = 0; i < mappings.size(); ++i) {
            EventCounts events = mappings[i].events;
            events_ += events.scale(work.subgraphs[i].repeat);
        }
        events_ += network.fixed.events;
    }

    OperatingPoint at(double clock_ratio) const {
        const bool prefetch = machine_.runtime->weight_prefetch == WeightPrefetch::network;
        double body = 0, overhead = 0, weights = 0, dram = 0, slowest = 0;
        for (std::size_t i = 0; i < mappings_.size(); ++i) {
            const double repeat = work_.subgraphs[i].repeat;
            const LaneTimes t = price_time(mappings_[i], machine_, clock_ratio, prefetch);
            const double fixed = t.lanes[static_cast<std::size_t>(Lane::overhead)];
            body += (t.total - fixed) * repeat;
            overhead += fixed * repeat;
            weights += t.weight_stream * repeat;
            dram += t.dram_bytes * repeat;
            slowest = std::max(slowest, t.total * repeat);
        }
        const LaneTimes fixed = price_time(network_.fixed, machine_, clock_ratio, false);
        OperatingPoint point;
        point.clock_ratio = clock_ratio;
        point.latency_s = fixed.total + std::max(body, weights) + overhead;
        point.interval_s = point.latency_s;
        if (network_.pipelined)
            point.interval_s = std::max(slowest, weights);
        if (machine_.scenario == Scenario::throughput && network_.instances > 1)
            point.interval_s = combine(point.interval_s / network_.instances, shared_dram(dram), 0,
                                       network_.shared_exponent);
        return point;
    }

    /// Joules per batch without static power.
    double dynamic_energy(double clock_ratio) const {
        return price_energy(events_, machine_, clock_ratio).total();
    }

  private:
    double shared_dram(double bytes_per_batch) const {
        const double rate = machine_.rate(Resource::dram_bytes);
        return rate > 0 ? bytes_per_batch / rate : 0;
    }

    const std::vector<Mapping>& mappings_;
    const NetworkMapping& network_;
    const NetworkWork& work_;
    const Machine& machine_;
    EventCounts events_;
};

/// The tabulated clock, or the highest at which average power fits the limit.
OperatingPoint within_limit(const Solver& solver, const Machine& machine) {
    OperatingPoint full = solver.at(1.0);
    const double budget = machine.power_limit_w - machine.static_power_w; // of one chip, as the counts are
    if (!machine.energy || machine.power_limit_w <= 0 || budget <= 0)
        return full;
    const auto fits = [&](const OperatingPoint& p) {
        return solver.dynamic_energy(p.clock_ratio) <= budget * p.interval_s;
    };
    if (fits(full))
        return full;
    OperatingPoint low = solver.at(kLowestClockRatio);
    low.limited = true;
    if (!fits(low)) {
        const double stretched = solver.dynamic_energy(low.clock_ratio) / budget;
        low.latency_s *= stretched / low.interval_s;
        low.interval_s = stretched;
        return low;
    }
    double high = 1.0;
    for (int i = 0; i < kBisections; ++i) {
        const OperatingPoint middle = solver.at((low.clock_ratio + high) / 2);
        if (fits(middle))
            low = middle;
        else
            high = middle.clock_ratio;
    }
    low.limited = true;
    return low;
}

/// The clock with the least energy per inference of the whole system: a lower clock saves voltage but pays
/// static and host power for longer. Worked: static and host 108 W, dynamic 220 W at full clock, dynamic
/// energy ~ clock: the sum 108 / r + 220 r is least at r = 0.70.
OperatingPoint most_efficient(const Solver& solver, const Machine& machine, const OperatingPoint& fastest) {
    const double idle_w =
        machine.static_power_w + machine.energy->host_share.value_or(0) * machine.device->tdp.value_or(0);
    const auto joules = [&](const OperatingPoint& p) {
        return solver.dynamic_energy(p.clock_ratio) + idle_w * p.interval_s;
    };
    constexpr double kGolden = 0.6180339887498949;
    double low = std::min(kLowestClockRatio, fastest.clock_ratio), high = fastest.clock_ratio;
    OperatingPoint left = solver.at(high - kGolden * (high - low)),
                   right = solver.at(low + kGolden * (high - low));
    for (int i = 0; i < kBisections; ++i)
        if (joules(left) < joules(right)) {
            high = right.clock_ratio;
            right = left;
            left = solver.at(high - kGolden * (high - low));
        } else {
            low = left.clock_ratio;
            left = right;
            right = solver.at(low + kGolden * (high - low));
        }
    return joules(right) < joules(fastest) ? right : fastest;
}

} // namespace

OperatingPoint settle_clock(const std::vector<Mapping>& mappings, const NetworkMapping& network,
                            const NetworkWork& work, const Machine& machine) {
    const Solver solver(mappings, network, work, machine);
    const OperatingPoint fastest = within_limit(solver, machine);
    return machine.efficient_clock && machine.energy ? most_efficient(solver, machine, fastest) : fastest;
}

} // namespace archsim
