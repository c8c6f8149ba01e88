#pragma once
// A device that works now and then, and one that several networks share (Conditions::duty): how much of its
// time each takes, what is left, and what it draws. Metrics, costs and limits of such results follow from
// here.

#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// One network of those that share a device.
struct SharedNetwork {
    const Result* device = nullptr; ///< of the network that is compared
    const Result* result = nullptr; ///< its own, also where there is no estimate
    double every_s = 0;
    double latency_s = 0; ///< of an inference, with the weights that gave way to another network's
    double busy_s = 0;    ///< of the device's time for one: less than the latency where several overlap
    double share = 0;     ///< of the device's time
    double worst_s = 0;   ///< with one inference of each of the others before it
    std::string slice;    ///< the least that keeps up with it; empty: none, or the device has none
};

/// One device at work every so often. Worked: 10 mJ in 50 ms every second, 2 W idle: 10 mJ + 2 W x 0.95 s =
/// 1.91 W.
struct DutyCycle {
    const Result* result = nullptr;
    std::vector<SharedNetwork> networks; ///< that of the result first
    double active_share = 0;             ///< of the time; above 1: it cannot keep up
    double inference_j = 0;              ///< of the first network, at work
    double work_w = 0;                   ///< while that runs
    double memory_bytes = 0;             ///< of all networks
    std::optional<double> idle_w;        ///< between inferences; absent: nobody states it
    bool sleeps = false; ///< `idle_w` is of a sleep state; else of clocks up, the most that it may be
    double active_w = 0; ///< of the inferences alone, over all the time
    std::optional<double> average_w; ///< absent likewise, and where it cannot keep up
    std::optional<double> mah_per_day;
    std::optional<double> battery_hours;

    bool fits() const;
    /// Whether every network has the time and the memory that it needs.
    bool holds() const { return fits() && active_share <= 1; }
    /// Rate of the first network that fits beside the others.
    double most_per_s() const {
        const SharedNetwork& first = networks.front();
        return std::max(0.0, 1 - active_share + first.share) / first.busy_s;
    }
    /// Joules of the time that is left, for each inference of the first network.
    double idle_j() const { return left_w() * networks.front().every_s; }
    /// Watts of the average that the time without work takes.
    double left_w() const { return idle_w.value_or(0) * (1 - active_share); }
};

/// That of a result with an estimate, at the boundary of power that is asked for; of a chip that states no
/// idle power the power with clocks up.
DutyCycle duty_cycle(const Result& result, std::optional<PowerBoundary> boundary);
/// The same where the question states how often it works; else nothing.
std::optional<DutyCycle> stated_duty(const Result& result, std::optional<PowerBoundary> boundary);

namespace metric {
/// The part of the time that a device works, above 1 where it cannot keep up with what is asked of it: the
/// limit that every rate is. Results without a rate have no value.
extern const Metric time_at_work;
} // namespace metric

} // namespace archsim
