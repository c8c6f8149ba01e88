#include "estimate/algebra.hpp"

#include "estimate/memory_pools.hpp"
#include "estimate/price.hpp"

#include <algorithm>

namespace archsim {

/// True when the estimate has numbers; an incomplete one may, where the user accepted the gap.
static bool has_numbers(const Estimate& e) {
    return e.status == Status::ok || (e.status == Status::incomplete && e.latency_s > 0);
}

static Interval operator*(const Interval& i, double factor) {
    return {i.low * factor, i.high * factor};
}

static void operator+=(Interval& sum, const Interval& i) {
    sum.low += i.low;
    sum.high += i.high;
}

static void add_facts(const Estimate& part, Estimate& whole) {
    whole.executed = part.executed;
    if (whole.precision_note.empty())
        whole.precision_note = part.precision_note;
    if (whole.uncounted.empty())
        whole.uncounted = part.uncounted;
    whole.interval_basis = part.interval_basis;
    whole.findings.insert(whole.findings.end(), part.findings.begin(), part.findings.end());
    whole.batch = std::max(whole.batch, part.batch);
    whole.pieces = std::max(whole.pieces, part.pieces);
    if (whole.status == Status::ok && part.status != Status::ok) {
        whole.status = part.status;
        whole.reason = part.reason;
    }
}

void take_evidence(const Estimate& from, Estimate& to) {
    to.kind = from.kind;
    to.projected = from.projected;
    to.related = from.related;
    to.unlike = from.unlike;
    to.refuted = from.refuted;
    to.refuted_rows = from.refuted_rows;
}

static void add_extremes(const Estimate& part, Estimate& whole) {
    whole.utilization_min = std::min(whole.utilization_min, part.utilization_min);
    whole.utilization_max = std::max(whole.utilization_max, part.utilization_max);
    whole.peak_power_w = std::max(part.peak_power_w, whole.peak_power_w); // NaN stays
    whole.power_limited = whole.power_limited || part.power_limited;
    whole.clock_ratio = std::min(whole.clock_ratio, part.clock_ratio);
    whole.compute_bound += part.compute_bound;
    whole.memory_bound += part.memory_bound;
    whole.overhead_bound += part.overhead_bound;
}

/// Multiplies what time and energy add up to; power, utilisation and memory stay.
static void scale(Estimate& e, double times) {
    e.latency_s *= times;
    e.latency_interval = e.latency_interval * times;
    e.network_s *= times;
    e.weights_wait_s *= times;
    e.throughput_per_s /= times;
    e.throughput_interval = e.throughput_interval * (1 / times);
    e.energy.scale(times);
    e.events.scale(times);
    e.energy_per_inference_j *= times;
    e.energy_interval = e.energy_interval * times;
}

double held_weights(const NetworkWork& work, const Machine& machine) {
    const std::string& link = machine.device->host_link_type;
    const bool shared = link.empty() || link == "shared memory"; // one memory has them all
    return work.weight_bytes - (shared ? 0 : machine.param(Parameter::host_tables, 0) * work.table_bytes);
}

MemoryEstimate planned_memory(const NetworkWork& work, const Machine& machine) {
    MemoryEstimate memory;
    memory.weight_bytes = held_weights(work, machine);
    memory.activation_bytes = work.memory.arena_bytes;
    memory.live_bytes = work.memory.peak_live_bytes;
    memory.kv_cache_bytes = work.memory.kv_cache_bytes;
    memory.peak_bytes = memory.weight_bytes + work.memory.arena_bytes + work.memory.kv_cache_bytes;
    memory.capacity_bytes = memory_of_pools(machine);
    return memory;
}

void hold_together(MemoryEstimate& whole, const MemoryEstimate& stage, double shared_weight_bytes) {
    whole.weight_bytes += stage.weight_bytes - shared_weight_bytes;
    for (const auto pool :
         {&MemoryEstimate::activation_bytes, &MemoryEstimate::live_bytes, &MemoryEstimate::kv_cache_bytes,
          &MemoryEstimate::workspace_bytes, &MemoryEstimate::capacity_bytes})
        whole.*pool = std::max(whole.*pool, stage.*pool);
    whole.peak_bytes =
        whole.weight_bytes + whole.activation_bytes + whole.kv_cache_bytes + whole.workspace_bytes;
}

Estimate in_sequence(std::span<const Stage> stages) {
    Estimate whole;
    bool complete = true;
    const auto longest = std::ranges::max_element(stages, [](const Stage& a, const Stage& b) {
        return a.times * a.estimate->latency_s < b.times * b.estimate->latency_s;
    });
    if (longest != stages.end())
        take_evidence(*longest->estimate, whole);
    for (const Stage& stage : stages) {
        add_facts(*stage.estimate, whole);
        hold_together(whole.memory, stage.estimate->memory, stage.shared_weight_bytes);
        complete = complete && has_numbers(*stage.estimate);
    }
    if (!complete || stages.empty())
        return whole;
    whole.utilization_min = 1;
    double useful_s = 0, turn_s = 0;
    Interval turn, joules;
    for (const Stage& stage : stages) {
        const Estimate& part = *stage.estimate;
        const double n = stage.times;
        whole.latency_s += n * part.latency_s;
        whole.latency_interval += part.latency_interval * n;
        whole.network_s += n * part.network_s;
        whole.weights_wait_s += n * part.weights_wait_s;
        EnergyBreakdown energy = part.energy;
        whole.energy += energy.scale(n);
        EventCounts events = part.events;
        whole.events += events.scale(n);
        joules += part.energy_interval * (n * part.batch);
        turn_s += n * part.batch / part.throughput_per_s;
        turn.low += n * part.batch / part.throughput_interval.high;
        turn.high += n * part.batch / part.throughput_interval.low;
        useful_s += n * part.utilization * part.latency_s;
        if (n > 0)
            add_extremes(part, whole);
    }
    whole.throughput_per_s = whole.batch / turn_s;
    whole.throughput_interval = {whole.batch / turn.high, whole.batch / turn.low};
    share_among_inferences(whole);
    whole.energy_interval = joules * (1 / whole.batch);
    whole.power_w = whole.energy.total() / turn_s;
    whole.peak_power_w = std::max(whole.peak_power_w, whole.power_w);
    whole.utilization = useful_s / whole.latency_s;
    whole.utilization_min = std::min(whole.utilization_min, whole.utilization_max);
    return whole;
}

Estimate repeated(Estimate e, double times) {
    if (times == 1)
        return e;
    scale(e, times);
    for (SubgraphEstimate& s : e.subgraphs) {
        s.latency_s *= times;
        for (double& lane : s.lane_s)
            lane *= times;
        s.copies_s *= times;
        s.dram_bytes *= times;
        s.energy.scale(times);
    }
    return e;
}

void share_among_inferences(Estimate& e) {
    e.energy_per_inference_j = e.energy.total() / e.batch;
}

Estimate on_devices(Estimate one, double devices) {
    if (devices == 1)
        return one;
    one.energy.scale(devices);
    one.events.scale(devices);
    one.energy_per_inference_j *= devices;
    one.energy_interval = one.energy_interval * devices;
    one.power_w *= devices;
    one.peak_power_w *= devices;
    for (SubgraphEstimate& s : one.subgraphs)
        s.energy.scale(devices);
    return one;
}

Estimate in_copies(Estimate one, double copies) {
    return copies == 1 ? one : with_batches(on_devices(std::move(one), copies), copies);
}

Estimate with_batches(Estimate one, double batches) {
    one.batch *= batches;
    one.throughput_per_s *= batches;
    one.throughput_interval = one.throughput_interval * batches;
    one.energy_per_inference_j /= batches;
    one.energy_interval = one.energy_interval * (1 / batches);
    return one;
}

Estimate beside_waiting(Estimate e, double watts) {
    const double before = e.energy.total(), idle = watts * e.latency_s;
    if (before <= 0 || idle <= 0)
        return e;
    const double more = (before + idle) / before;
    e.energy.static_joules += idle;
    e.energy_per_inference_j *= more;
    e.energy_interval = e.energy_interval * more;
    e.power_w *= more;
    e.peak_power_w += watts;
    return e;
}

Estimate one_at_a_time(Estimate e) {
    e.throughput_per_s = e.batch / e.latency_s;
    e.throughput_interval = {e.batch / e.latency_interval.high, e.batch / e.latency_interval.low};
    e.power_w = e.energy.total() / e.latency_s;
    e.peak_power_w = std::max(e.peak_power_w, e.power_w);
    return e;
}

Estimate kept_busy(Estimate alone, const Estimate& busy) {
    const Estimate served = repeated(busy, alone.batch / busy.batch);
    alone.throughput_per_s = busy.throughput_per_s;
    alone.throughput_interval = busy.throughput_interval;
    alone.energy = served.energy;
    alone.events = served.events;
    alone.energy_per_inference_j = busy.energy_per_inference_j;
    alone.energy_interval = busy.energy_interval;
    alone.power_w = busy.power_w;
    alone.peak_power_w = busy.peak_power_w;
    alone.power_limited = alone.power_limited || busy.power_limited;
    alone.utilization = busy.utilization;
    alone.utilization_min = busy.utilization_min;
    alone.utilization_max = busy.utilization_max;
    return alone;
}

Estimate lengthened(Estimate e, double seconds, double idle_power_w) {
    if (seconds <= 0)
        return e;
    const double longer = (e.latency_s + seconds) / e.latency_s;
    e.latency_s += seconds;
    e.network_s += seconds;
    e.latency_interval = e.latency_interval * longer;
    e.throughput_per_s /= longer;
    e.throughput_interval = e.throughput_interval * (1 / longer);
    e.utilization /= longer;
    if (const double before = e.energy.total(); before > 0) {
        const double idle = idle_power_w * seconds;
        const double more = (before + idle) / before;
        e.energy.static_joules += idle;
        e.energy_per_inference_j *= more;
        e.energy_interval = e.energy_interval * more;
        e.power_w *= more / longer;
    }
    return e;
}

double launches_s(const NetworkWork& work, const Machine& machine) {
    if (machine.runtime->graph_capture)
        return 0;
    double kernels = 0;
    for (const SubgraphWork& s : work.subgraphs)
        if (s.kind != OpKind::free)
            kernels += s.repeat * (s.anchor != nullptr ? std::max(1.0, s.anchor->serial_steps) : 1);
    return machine.param(Parameter::uncaptured_launch, 0) * kernels;
}

Estimate waiting(Estimate e, double seconds, const Machine& machine, Parameter reason) {
    if (seconds <= 0)
        return e;
    e.network.fixed.add(Resource::seconds, Lane::overhead, seconds, 1, reason);
    return lengthened(std::move(e), seconds, static_power_at(machine, e.clock_ratio) * machine.devices);
}

} // namespace archsim
