#include "compare/time_model.hpp"

#include "estimate/price.hpp"

#include <algorithm>
#include <limits>

namespace archsim {

namespace {

bool is_host(const Demand& demand) {
    switch (demand.reason) {
    case Parameter::fallback_operation_time:
    case Parameter::fallback_switch:
    case Parameter::host_time:
        return true;
    default: // what moves outside of overlap goes to the host and back
        return demand.lane == Lane::overhead &&
               (demand.resource == Resource::host_link_bytes || demand.resource == Resource::dram_bytes);
    }
}

/// Adds the demands of one mapping. Clocked times are kept at full clock.
void add_mapping(const Mapping& mapping, double repeat, const Machine& machine, double clock_ratio,
                 RegionTime& t) {
    for (const Demand& d : mapping.all()) {
        const double full = d.amount * repeat / (machine.rate(d.resource) * d.efficiency);
        const bool clocked = scales_with_clock(d.resource);
        switch (d.lane) {
        case Lane::compute:
            t.compute_s += clocked ? full / clock_ratio : full;
            break;
        case Lane::on_chip:
            (clocked ? t.on_chip_clocked_s : t.on_chip_s) += full;
            break;
        case Lane::memory:
            (d.resource == Resource::weight_bytes ? t.weight_bytes : t.bytes) += d.amount * repeat;
            (d.resource == Resource::weight_bytes ? t.weight_s : t.memory_s) += full;
            break;
        case Lane::overhead:
            if (is_host(d))
                t.host_s += full;
            else
                (clocked ? t.fixed_clocked_s : t.fixed_s) += full;
            break;
        }
    }
}

/// Time of the overlapped lanes at the clock that runs.
double lanes_combined(const RegionTime& t, const DeviceTime& d) {
    const double on_chip = t.on_chip_clocked_s / d.clock_ratio + t.on_chip_s;
    return combine(t.compute_s, on_chip, t.memory_s + (d.prefetch ? 0 : t.weight_s), d.exponent);
}

void finish(double body, const DeviceTime& d, RegionTime& t) {
    t.body_s = body;
    const double together = lanes_combined(t, d);
    t.serialisation = together > 0 ? body / together : 1;
}

double memory_rate(const Result& leaf) {
    const Machine& machine = *leaf.machine;
    if (machine.rate(Resource::dram_bytes) > 0)
        return machine.rate(Resource::dram_bytes);
    for (const SubgraphEstimate& s : leaf.estimate.subgraphs)
        for (const Demand& d : s.mapping.all())
            if (d.lane == Lane::memory)
                return machine.rate(d.resource);
    return std::numeric_limits<double>::infinity();
}

double device_operations(const Result& leaf, std::uint32_t subgraph) {
    const SubgraphWork& work = leaf.work->subgraphs[subgraph];
    const bool host = leaf.runtime->fallback == Fallback::host;
    double operations = 0;
    for (const OperatorUse& use : work.operators)
        if (use.supported || !host)
            operations += use.op->work.operations();
    return operations * work.repeat;
}

} // namespace

double executed_peak(const Result& leaf) {
    const Machine& machine = *leaf.machine;
    const Precision p = leaf.estimate.executed.compute;
    if (machine.matrix_ops(p) > 0)
        return machine.peak_ops(p);
    // Not native to a matrix engine: it multiplies in passes, or the vector engine does.
    double operations = 0, cycles = 0, on_matrix = 0, on_vector = 0;
    for (const SubgraphEstimate& s : leaf.estimate.subgraphs) {
        const SubgraphWork& work = leaf.work->subgraphs[s.index];
        if (s.mapping.ideal_cycles <= 0 || work.macs <= 0)
            continue;
        operations += 2 * work.macs * work.repeat;
        cycles += s.mapping.ideal_cycles * work.repeat;
        for (const Demand& d : s.mapping.all()) {
            on_matrix += d.resource == Resource::matrix_cycles ? d.amount * work.repeat : 0;
            on_vector += d.resource == Resource::vector_cycles ? d.amount * work.repeat : 0;
        }
    }
    if (on_vector > on_matrix && machine.vector_ops(p) > 0)
        return machine.vector_ops(p) * machine.rate(Resource::vector_cycles);
    if (cycles > 0)
        return operations / cycles * machine.rate(Resource::matrix_cycles);
    const double peak = machine.peak_ops(p);
    return peak > 0 ? peak : machine.rate(Resource::matrix_cycles);
}

DeviceTime time_model(const Result& leaf, const std::vector<CommonRegion>& regions, std::size_t index,
                      std::size_t part) {
    const Estimate& e = leaf.estimate;
    const Machine& machine = *leaf.machine;
    DeviceTime d;
    d.peak = executed_peak(leaf);
    d.bandwidth = memory_rate(leaf);
    d.exponent = machine.combine_exponent;
    d.clock_ratio = e.clock_ratio;
    d.prefetch = machine.runtime->weight_prefetch == WeightPrefetch::network;
    d.concurrency = e.batch / e.throughput_per_s / e.latency_s;
    double body = 0, weights = 0, outside = 0;
    for (const CommonRegion& region : regions) {
        if (region.part != part)
            continue;
        RegionTime t;
        double own = 0;
        for (std::uint32_t s : region.subgraphs[index]) {
            const double repeat = leaf.work->subgraphs[s].repeat;
            const Mapping& mapping = e.subgraphs[s].mapping;
            add_mapping(mapping, repeat, machine, e.clock_ratio, t);
            const LaneTimes lanes = price_time(mapping, machine, e.clock_ratio, d.prefetch);
            own += (lanes.total - lanes.lanes[static_cast<std::size_t>(Lane::overhead)]) * repeat;
            t.device_operations += device_operations(leaf, s);
        }
        finish(own, d, t);
        body += own;
        weights += t.weight_s;
        outside += t.fixed_clocked_s / d.clock_ratio + t.fixed_s + t.host_s;
        d.regions.push_back(t);
    }
    RegionTime& n = d.network;
    add_mapping(e.network.fixed, 1, machine, e.clock_ratio, n);
    const LaneTimes fixed = price_time(e.network.fixed, machine, e.clock_ratio, false);
    finish(fixed.total - fixed.lanes[static_cast<std::size_t>(Lane::overhead)], d, n);
    outside += n.body_s + n.fixed_clocked_s / d.clock_ratio + n.fixed_s + n.host_s;
    const double modelled = outside + (d.prefetch ? std::max(body, weights) : body);
    d.stretch = modelled > 0 ? e.latency_s / modelled : 1;
    return d;
}

} // namespace archsim
