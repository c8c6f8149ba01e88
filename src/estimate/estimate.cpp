#include "archsim/estimate/estimate.hpp"

#include "estimate/batch_pieces.hpp"
#include "estimate/power_limit.hpp"
#include "estimate/price.hpp"
#include "estimate/several_chips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace archsim {

std::string_view name_of(Status status) {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::unsupported:
        return "unsupported";
    case Status::does_not_fit:
        return "does_not_fit";
    case Status::incomplete:
        return "incomplete";
    }
    return "";
}

std::string_view name_of(Bound bound) {
    switch (bound) {
    case Bound::compute:
        return "compute";
    case Bound::memory:
        return "memory";
    case Bound::overhead:
        return "overhead";
    }
    return "";
}

namespace {

Bound bound_of(const LaneTimes& times) {
    const auto lane = [&](Lane l) { return times.lanes[static_cast<std::size_t>(l)]; };
    const double work = times.total - lane(Lane::overhead);
    if (lane(Lane::overhead) > work)
        return Bound::overhead;
    return lane(Lane::compute) >= std::max(lane(Lane::on_chip), lane(Lane::memory)) ? Bound::compute
                                                                                    : Bound::memory;
}

std::string gigabytes(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

/// Fills what does not need a mapping; true when the estimate may go on.
bool admit(const NetworkWork& work, const Machine& machine, const EstimateOptions& options, Estimate& e) {
    e.executed = work.precision;
    e.batch = work.batch;
    e.memory.weight_bytes = work.weight_bytes;
    e.memory.activation_bytes = work.memory.arena_bytes;
    e.memory.live_bytes = work.memory.peak_live_bytes;
    e.memory.kv_cache_bytes = work.memory.kv_cache_bytes;
    e.memory.peak_bytes = work.weight_bytes + work.memory.arena_bytes + work.memory.kv_cache_bytes;
    e.memory.capacity_bytes = machine.memory_capacity_bytes;
    e.findings = work.graph->findings;
    if (!work.graph->complete()) {
        e.status = Status::incomplete;
        const auto first = std::find_if(e.findings.begin(), e.findings.end(),
                                        [](const Finding& f) { return f.severity == Severity::error; });
        e.reason = to_string(*first);
        if (!options.allow_unknown)
            return false;
    }
    if (e.memory.capacity_bytes > 0 && e.memory.peak_bytes > e.memory.capacity_bytes) {
        e.status = Status::does_not_fit;
        e.reason = fmt::format("needs {}, the device has {}", gigabytes(e.memory.peak_bytes),
                               gigabytes(e.memory.capacity_bytes));
        return false;
    }
    if (work.subgraphs.empty()) {
        e.status = Status::incomplete;
        e.reason = "the graph has no operator with run-time work";
        return false;
    }
    return true;
}

void price_subgraphs(const BatchSchedule& schedule, const NetworkWork& work, const Machine& machine,
                     double clock_ratio, const EstimateOptions& options, Estimate& e) {
    const std::vector<Mapping>& mappings = schedule.mappings;
    const bool prefetch = machine.runtime->weight_prefetch == WeightPrefetch::network;
    const double cycle_rate = machine.rate(Resource::matrix_cycles) * clock_ratio;
    double ideal_s = 0, busy_s = 0;
    e.utilization_min = std::numeric_limits<double>::infinity();
    if (options.keep_subgraphs)
        e.subgraphs.reserve(mappings.size());
    for (std::size_t i = 0; i < mappings.size(); ++i) {
        const double repeat = work.subgraphs[i].repeat;
        const LaneTimes times = price_time(mappings[i], machine, clock_ratio, prefetch);
        SubgraphEstimate s;
        s.index = static_cast<std::uint32_t>(i);
        s.pieces = schedule.pieces[i];
        e.pieces = std::max(e.pieces, s.pieces);
        s.latency_s = times.total * repeat;
        for (std::size_t l = 0; l < kLaneCount; ++l)
            s.lane_s[l] = times.lanes[l] * repeat;
        s.binding = times.binding;
        s.bound = bound_of(times);
        s.dram_bytes = times.dram_bytes * repeat;
        if (s.latency_s > 0 && mappings[i].ideal_cycles > 0) {
            s.utilization = mappings[i].ideal_cycles * repeat / cycle_rate / s.latency_s;
            ideal_s += mappings[i].ideal_cycles * repeat / cycle_rate;
            e.utilization_min = std::min(e.utilization_min, s.utilization);
            e.utilization_max = std::max(e.utilization_max, s.utilization);
        }
        busy_s += s.latency_s;
        EventCounts events = mappings[i].events;
        events.scale(repeat);
        s.energy = price_energy(events, machine, clock_ratio);
        s.energy.static_joules = machine.static_power_w * s.latency_s;
        if (s.latency_s > 0)
            e.peak_power_w = std::max(e.peak_power_w, s.energy.total() / s.latency_s);
        e.events += events;
        e.compute_bound += s.bound == Bound::compute;
        e.memory_bound += s.bound == Bound::memory;
        e.overhead_bound += s.bound == Bound::overhead;
        if (options.keep_subgraphs) {
            s.mapping = mappings[i];
            e.subgraphs.push_back(s);
        }
    }
    e.events += e.network.fixed.events;
    e.utilization = e.latency_s > 0 ? ideal_s / e.latency_s : 0;
    if (std::isinf(e.utilization_min))
        e.utilization_min = 0;
    e.network_s = e.latency_s - busy_s;
}

/// Name of a resource that a mapping needs and the machine lacks, or empty.
std::string missing_resource(const std::vector<Mapping>& mappings, const NetworkMapping& network,
                             const Machine& machine) {
    const auto find = [&](const Mapping& m) -> std::string {
        for (const Demand& d : m.all())
            if (!(machine.rate(d.resource) > 0) || !std::isfinite(d.amount) || !(d.efficiency > 0))
                return fmt::format("the device's {} is unknown", name_of(d.resource));
        return {};
    };
    for (const Mapping& m : mappings)
        if (auto missing = find(m); !missing.empty())
            return missing;
    return find(network.fixed);
}

void add_intervals(const Machine& machine, Estimate& e) {
    e.latency_interval = {e.latency_s, e.latency_s};
    e.throughput_interval = {e.throughput_per_s, e.throughput_per_s};
    e.energy_interval = {e.energy_per_inference_j, e.energy_per_inference_j};
    if (!machine.uncertainty)
        return;
    const std::string_view regime = e.overhead_bound >= std::max(e.compute_bound, e.memory_bound) ? "overhead"
                                    : e.compute_bound >= e.memory_bound                           ? "compute"
                                                                                                  : "memory";
    const Spread time =
        machine.uncertainty->spread(Metric::latency, *machine.device, *machine.runtime, regime);
    const Spread energy =
        machine.uncertainty->spread(Metric::energy, *machine.device, *machine.runtime, regime);
    e.latency_interval = {e.latency_s * time.low, e.latency_s * time.high};
    e.throughput_interval = {e.throughput_per_s / time.high, e.throughput_per_s / time.low};
    e.energy_interval = {e.energy_per_inference_j * energy.low, e.energy_per_inference_j * energy.high};
    e.interval_basis = time.basis;
}

} // namespace

Estimate estimate(const NetworkWork& work, const Machine& machine, const EstimateOptions& options) {
    Estimate e;
    if (!admit(work, machine, options, e))
        return e;
    const BatchScheduler scheduler(work, machine, options);
    if (auto missing = missing_resource(scheduler.whole(), scheduler.network(), machine); !missing.empty()) {
        e.status = Status::unsupported;
        e.reason = missing;
        return e;
    }
    BatchSchedule schedule = scheduler.at(1);
    OperatingPoint point = settle_clock(schedule.mappings, schedule.network, work, machine);
    if (scheduler.has_pieces() && point.clock_ratio < 1) { // what is best may be another schedule there
        schedule = scheduler.at(point.clock_ratio);
        point = settle_clock(schedule.mappings, schedule.network, work, machine);
    }
    e.network = schedule.network;
    e.clock_ratio = point.clock_ratio;
    e.power_limited = point.limited;
    e.latency_s = point.latency_s;
    e.throughput_per_s = work.batch / point.interval_s;
    price_subgraphs(schedule, work, machine, point.clock_ratio, options, e);
    // Energy of one batch: counted events plus static power over the batch's share of busy time.
    e.energy = price_energy(e.events, machine, point.clock_ratio);
    e.energy.static_joules = machine.static_power_w * point.interval_s;
    e.energy_per_inference_j = e.energy.total() / work.batch;
    e.power_w = e.energy.total() / point.interval_s;
    for (Finding& finding : unpriced_events(e.events, machine))
        e.findings.push_back(std::move(finding));
    if (machine.power_limit_w > 0)
        e.peak_power_w =
            std::min(std::max(e.peak_power_w, e.power_w), std::max(machine.power_limit_w, e.power_w));
    add_up_chips(work.chips, e);
    add_intervals(machine, e);
    return e;
}

} // namespace archsim
