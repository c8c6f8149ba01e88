#include "answers/difference/estimate_record.hpp"

#include "answers/difference/factor_terms.hpp"
#include "estimate/price.hpp"
#include "hardware/parameter_site.hpp"
#include "result/duty_cycle.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>

namespace archsim {

static void add_cost(const Result& result, const CostOptions& options, EstimateRecord& out) {
    if (!value_of(result, metric::cost, options))
        return;
    const Cost cost = cost_of(result, options);
    out.electricity = cost.way() == Tenure::buy ? *cost.electricity : 0;
    out.price_per_s = (*cost.best() - out.electricity) * cost.inferences_per_s;
    out.seconds_per_inference = 1 / cost.inferences_per_s;
}

constexpr std::uint32_t kUnlisted = 0xFFFFFFFFU;

/// Sizes after the first axis, which the batch scales.
static std::string item_shape(const ShapedTensor& tensor) {
    if (tensor.shape.empty())
        return "";
    return fmt::format("{}", fmt::join(tensor.shape.begin() + 1, tensor.shape.end(), "x"));
}

static std::string shape_of(const ShapedGraph& graph, const Operator& op) {
    std::string text;
    for (TensorId id : op.inputs)
        if (id != kNoTensor && graph.tensors[id].role == TensorRole::initializer)
            text += fmt::format("[{}]", fmt::join(graph.tensors[id].shape, "x"));
    for (TensorId id : op.outputs)
        if (id != kNoTensor)
            text += "->" + item_shape(graph.tensors[id]);
    return text;
}

static bool runs(const Operator& op) {
    return !op.folded && op.work.kind != OpKind::free;
}

/// "3x3 convolution", "7x7 depthwise convolution", "matmul", "attention", "elementwise".
static std::string operator_class(const Operator& op) {
    const auto& window = op.work.window;
    if (op.work.kind != OpKind::convolution || !window)
        return std::string(name_of(op.work.kind));
    std::vector<double> kernel; // images leave the first of three axes unused
    for (std::size_t axis = window->in[0] > 1 || window->kernel[0] > 1 ? 0 : 1; axis < 3; ++axis)
        kernel.push_back(window->kernel[axis]);
    const bool depthwise = window->groups > 1 && window->groups == window->in_channels;
    return fmt::format("{} {}{}convolution", fmt::join(kernel, "x"), window->transposed ? "transposed " : "",
                       depthwise            ? "depthwise "
                       : window->groups > 1 ? "grouped "
                                            : "");
}

/// Names kernels and their operator classes, and lists the operators with work.
static void add_operators(const Result& leaf, GraphRecord& out) {
    const ShapedGraph& graph = *leaf.model->graph;
    std::vector<std::uint32_t> place(graph.operators.size(), kUnlisted);
    for (std::uint32_t i = 0; i < graph.operators.size(); ++i)
        if (const Operator& op = graph.operators[i]; runs(op)) {
            place[i] = static_cast<std::uint32_t>(out.operators.size());
            out.operators.push_back({op.name, op.type, shape_of(graph, op)});
        }
    for (std::uint32_t s = 0; s < out.kernels.size(); ++s) {
        KernelRecord& kernel = out.kernels[s];
        const Subgraph& subgraph = leaf.partition->subgraphs[s];
        kernel.name = subgraph.name;
        const Operator* largest = &graph.operators[subgraph.anchor];
        for (const SubgraphMember& member : subgraph.members) {
            if (place[member.op] == kUnlisted)
                continue;
            kernel.operators.push_back(place[member.op]);
            if (graph.operators[member.op].work.operations() > largest->work.operations())
                largest = &graph.operators[member.op];
        }
        kernel.kind = operator_class(*largest);
    }
    out.network.name = out.network.kind = "whole network";
}

static bool is_host(const Demand& demand) {
    if (demand.reason != Parameter::count_) {
        const ParameterRole role = kParameterInfos[static_cast<std::size_t>(demand.reason)].role;
        if (role == ParameterRole::fallback || role == ParameterRole::host)
            return true;
    } // what moves outside of overlap goes to the host and back
    return demand.lane == Lane::overhead &&
           (demand.resource == Resource::host_link_bytes || demand.resource == Resource::dram_bytes);
}

/// Adds the demands of one mapping. Clocked times are kept at full clock.
static void add_mapping(const Mapping& mapping, double repeat, const Machine& machine, double clock_ratio,
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
static double lanes_combined(const RegionTime& t, const DeviceTime& d) {
    const double on_chip = t.on_chip_clocked_s / d.clock_ratio + t.on_chip_s;
    return combine(t.compute_s, on_chip, t.memory_s + (d.prefetch ? 0 : t.weight_s), d.exponent);
}

static void finish(const DeviceTime& d, RegionTime& t) {
    const double together = lanes_combined(t, d);
    t.serialisation = together > 0 ? t.body_s / together : 1;
}

static double memory_rate(const Result& leaf) {
    const Machine& machine = *leaf.machine;
    if (machine.rate(Resource::dram_bytes) > 0)
        return machine.rate(Resource::dram_bytes);
    for (const SubgraphEstimate& s : leaf.estimate.subgraphs)
        for (const Demand& d : s.mapping.all())
            if (d.lane == Lane::memory)
                return machine.rate(d.resource);
    return std::numeric_limits<double>::infinity();
}

static void add_operations(const Result& leaf, std::uint32_t subgraph, RegionTime& t) {
    const SubgraphWork& work = leaf.work->subgraphs[subgraph];
    // A processor that is the host leaves nothing to another.
    const bool host = leaf.runtime->fallback == Fallback::host && !leaf.device->family.row().is_host;
    for (const OperatorUse& use : work.operators) {
        t.operations += use.op->work.operations() * work.repeat;
        if (use.supported || !host)
            t.device_operations += use.op->work.operations() * work.repeat;
    }
    t.starts += work.repeat;
}

/// Time of the lanes that overlap each other.
static double body_of(const LaneTimes& lanes) {
    return lanes.total - lanes.lanes[static_cast<std::size_t>(Lane::overhead)];
}

/// Peak operations per second at the precision that runs, at the tabulated clock: of the engine that the
/// products ran on.
static double executed_peak(const Result& leaf) {
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

EstimateRecord record_of(const Result& result, const CostOptions& cost, RecordDetail detail) {
    EstimateRecord record;
    record.model = result.model->name;
    record.hardware = result.hardware;
    if (const double devices = std::max(result.devices(), result.conditions.devices); devices > 1)
        record.hardware += fmt::format(" x{:.0f}", devices);
    record.stack = result.runtime ? result.runtime->id : std::string();
    record.precision = result.conditions.precision;
    record.dims = result.model->dims;
    record.batch = result.estimate.batch;
    for (const Metric* metric : every_metric().rows())
        if (const auto measure = measure_of(result, *metric, cost))
            record.values[metric->key] = *measure;
    if (const auto share = measure_of(result, metric::time_at_work, cost))
        record.values[metric::time_at_work.key] = *share;
    const MemoryEstimate& memory = result.estimate.memory;
    record.weight_bytes = memory.weight_bytes;
    record.activation_bytes = memory.activation_bytes;
    record.kv_cache_bytes = memory.kv_cache_bytes;
    record.workspace_bytes = memory.workspace_bytes;
    CostOptions at_chip = cost;
    at_chip.power_at = PowerBoundary::chip;
    record.chip_j = value_of(result, metric::energy, at_chip).value_or(0);
    record.chip_w = value_of(result, metric::power, at_chip).value_or(0);
    add_cost(result, cost, record);
    for (const ResultLeaf& leaf : leaves_of(result)) {
        record.graphs.push_back(record_of_graph(*leaf.result, detail));
        record.graphs.back().repeat = leaf.repeat;
    }
    for (std::size_t part = 0; part < result.parts.size(); ++part)
        record.graphs[part].name = result.parts[part].name;
    if (detail == RecordDetail::all) {
        FactorInputs inputs(result, cost);
        for (std::size_t f = 0; f < kFactorCount; ++f)
            record.inputs.push_back(inputs.of(static_cast<Factor>(f)).value);
    }
    return record;
}

RegionTime& RegionTime::operator+=(const RegionTime& o) {
    for (const auto& [key, member] : kRegionTimes)
        this->*member += o.*member;
    return *this;
}

RegionTime& RegionTime::scale(double factor) {
    for (const auto& [key, member] : kRegionTimes)
        this->*member *= factor;
    return *this;
}

GraphRecord record_of_graph(const Result& leaf, RecordDetail detail) {
    const Estimate& e = leaf.estimate;
    const Machine& machine = *leaf.machine;
    GraphRecord g;
    g.batch = e.batch;
    g.peak = executed_peak(leaf);
    g.bandwidth = memory_rate(leaf);
    g.exponent = machine.combine_exponent;
    g.clock_ratio = e.clock_ratio;
    g.prefetch = machine.runtime->weight_prefetch == WeightPrefetch::network;
    g.latency_s = e.latency_s;
    g.interval_s = e.batch / e.throughput_per_s;
    g.static_power_w = static_power_at(machine, e.clock_ratio);
    g.kernels.resize(e.subgraphs.size());
    for (std::uint32_t s = 0; s < e.subgraphs.size(); ++s) {
        KernelRecord& k = g.kernels[s];
        const double repeat = leaf.work->subgraphs[s].repeat;
        const Mapping& mapping = e.subgraphs[s].mapping;
        add_mapping(mapping, repeat, machine, e.clock_ratio, k.time);
        add_operations(leaf, s, k.time);
        k.time.body_s = body_of(price_time(mapping, machine, e.clock_ratio, g.prefetch)) * repeat;
        k.latency_s = e.subgraphs[s].latency_s;
        k.bound = e.subgraphs[s].bound;
        k.events = mapping.events;
        k.events.scale(repeat);
        k.energy = e.subgraphs[s].energy;
    }
    add_mapping(e.network.fixed, 1, machine, e.clock_ratio, g.network.time);
    g.network.time.starts = 1;
    g.network.time.body_s = body_of(price_time(e.network.fixed, machine, e.clock_ratio, false));
    g.network.events = e.network.fixed.events;
    g.network.energy = price_energy(g.network.events, machine, e.clock_ratio, e.energy_scale);
    if (detail == RecordDetail::all)
        add_operators(leaf, g);
    return g;
}

DeviceTime time_model(const GraphRecord& graph, const std::vector<CommonRegion>& regions, std::size_t index,
                      std::size_t part, double scale) {
    DeviceTime d;
    d.peak = graph.peak;
    d.bandwidth = graph.bandwidth;
    d.exponent = graph.exponent;
    d.clock_ratio = graph.clock_ratio;
    d.prefetch = graph.prefetch;
    d.concurrency = graph.latency_s > 0 ? graph.interval_s / graph.latency_s : 1;
    double body = 0, weights = 0, outside = 0;
    for (const CommonRegion& region : regions) {
        if (region.part != part)
            continue;
        RegionTime t;
        for (std::uint32_t s : region.subgraphs[index])
            t += graph.kernels[s].time;
        t.scale(scale);
        finish(d, t);
        body += t.body_s;
        weights += t.weight_s;
        outside += t.fixed_clocked_s / d.clock_ratio + t.fixed_s + t.host_s;
        d.regions.push_back(t);
    }
    RegionTime& n = d.network;
    n = graph.network.time;
    n.scale(scale);
    finish(d, n);
    outside += n.body_s + n.fixed_clocked_s / d.clock_ratio + n.fixed_s + n.host_s;
    const double modelled = outside + (d.prefetch ? std::max(body, weights) : body);
    d.stretch = modelled > 0 ? graph.latency_s * scale / modelled : 1;
    return d;
}

} // namespace archsim
