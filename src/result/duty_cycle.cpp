#include "result/duty_cycle.hpp"

#include "estimate/cold_start.hpp"
#include "estimate/wall_power.hpp"
#include "map/on_chip.hpp"

#include <cmath>

namespace archsim {

constexpr double kMilli = 1e-3, kHoursPerDay = 24;

/// Seconds until weights are back on a chip that keeps them between inferences, and cannot keep `all` bytes.
/// Nothing where every inference loads them anyway.
static double reload_s(const Result& r, double all) {
    const Machine& m = *r.machine;
    const double kept = std::max(weight_memory_bytes(m), managed_memory_bytes(m));
    const double own = r.estimate.memory.weight_bytes;
    const bool loads = r.estimate.energy.joules[static_cast<std::size_t>(Event::configuration_byte)] > 0;
    if (m.param(Parameter::weight_residency, 0) <= 0 || all <= kept || loads || !(own > 0))
        return 0;
    return cold_start(m, 0, own, 0).upload_s * std::min(1.0, kept / own);
}

/// The networks of a device, with their parts of its time; others than the first, which has what they leave
/// where it has no rate of its own.
static void share_time(const Result& r, DutyCycle& duty) {
    const Duty& asked = r.conditions.duty;
    duty.networks.push_back({&r, &r, asked.every_s});
    for (std::size_t i = 0; i < r.beside.size(); ++i)
        duty.networks.push_back({&r, r.beside[i].get(), asked.with[i].every_s});
    double weights = 0, all_s = 0, others = 0;
    for (const SharedNetwork& n : duty.networks) {
        weights += n.result->estimate.memory.weight_bytes;
        duty.memory_bytes += n.result->estimate.memory.peak_bytes;
    }
    for (SharedNetwork& n : duty.networks)
        if (n.result->ok()) {
            const Estimate& e = n.result->estimate;
            const double more_s = duty.networks.size() > 1 ? reload_s(*n.result, weights) : 0;
            n.latency_s = e.latency_s / std::max(1.0, e.batch) + more_s;
            n.busy_s = 1 / e.throughput_per_s + more_s;
            all_s += n.latency_s;
            n.share = n.every_s > 0 ? n.busy_s / n.every_s : 0;
            others += n.share;
        }
    SharedNetwork& first = duty.networks.front();
    if (first.every_s <= 0) {
        first.share = std::max(0.0, 1 - others);
        first.every_s = first.busy_s / first.share;
    }
    duty.active_share = others + (asked.every_s > 0 ? 0 : first.share);
    for (SharedNetwork& n : duty.networks)
        n.worst_s = n.latency_s > 0 ? all_s : 0;
}

/// Shares of time have the intervals of the throughputs, whose errors a device's networks have in common.
static std::optional<Measure> share_of_time(const Result& r, const CostOptions&) {
    const auto duty = stated_duty(r, {});
    if (!duty || !duty->fits())
        return std::nullopt;
    Measure measure{duty->active_share, {}};
    for (const SharedNetwork& n : duty->networks) {
        const Estimate& e = n.result->estimate;
        measure.interval.low += n.share * e.throughput_per_s / e.throughput_interval.high;
        measure.interval.high += n.share * e.throughput_per_s / e.throughput_interval.low;
    }
    return measure;
}

bool DutyCycle::fits() const {
    const double room = result->estimate.memory.capacity_bytes;
    return (room <= 0 || memory_bytes <= room) && // of chips whose memory is not known, anything
           std::ranges::all_of(networks, [](const SharedNetwork& n) { return n.result->ok(); });
}

DutyCycle duty_cycle(const Result& r, std::optional<PowerBoundary> boundary) {
    DutyCycle duty;
    duty.result = &r;
    share_time(r, duty);
    for (const SharedNetwork& n : duty.networks)
        if (n.latency_s > 0) {
            const double chip_j = n.result->estimate.energy_per_inference_j;
            const double joules = joules_at(*r.machine, chip_j, n.busy_s, boundary);
            duty.active_w += joules / n.every_s;
            if (n.result == &r) {
                duty.inference_j = joules;
                duty.work_w = joules / n.busy_s;
            }
        }
    const Duty& asked = r.conditions.duty;
    duty.sleeps = asked.idle_w > 0 || r.device->idle.known();
    const double idle_w = asked.idle_w > 0 ? asked.idle_w
                          : duty.sleeps    ? r.device->idle.value
                                           : r.device->active_idle.value;
    if (!std::isnan(idle_w))
        duty.idle_w = joules_at(*r.machine, idle_w * r.machine->devices, 1, boundary);
    if (!duty.idle_w || !duty.holds())
        return duty;
    duty.average_w = duty.active_w + duty.left_w();
    duty.mah_per_day = *duty.average_w * kHoursPerDay / asked.cell_volts / kMilli;
    if (asked.battery_wh > 0)
        duty.battery_hours = asked.battery_wh / *duty.average_w;
    return duty;
}

std::optional<DutyCycle> stated_duty(const Result& r, std::optional<PowerBoundary> boundary) {
    if (!r.conditions.duty.stated() || !r.ok() || !r.device || !r.machine)
        return std::nullopt;
    return duty_cycle(r, boundary);
}

const Metric metric::time_at_work = {.key = "time_at_work",
                                     .title = "At work",
                                     .unit = "1",
                                     .measure = share_of_time,
                                     .quantity = QuantityKind::ratio,
                                     .noun = "time at work",
                                     .field = "time_at_work",
                                     .heading = "At work",
                                     .scale = 100,
                                     .column_unit = "%",
                                     .recommend = false,
                                     .best = "Least time at work"};

} // namespace archsim
