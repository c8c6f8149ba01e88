#pragma once
// A small machine and hand-made subgraphs for tests of the GPU and CPU mappers.

#include "archsim/map/mapper.hpp"

#include <memory>

namespace archsim::test {

inline void set_rate(Machine& m, Resource r, double value) {
    m.rates[static_cast<std::size_t>(r)].value = value;
}
inline void set(Machine& m, Parameter p, double value) {
    m.parameters.facts[static_cast<std::size_t>(p)].value = value;
}
inline Fact fact(double value) {
    Fact f;
    f.value = value;
    return f;
}

/// `units` multiprocessors at 1 GHz, 1 TB/s of DRAM, 4 MB of L2 at 4 TB/s; per cycle and unit 1024 fp16 and
/// 2048 int8 operations in a matrix engine, 128 fp32 on vector lanes.
inline Machine gpu_machine(double units = 100) {
    auto device = std::make_shared<Device>();
    device->family = Family::gpu;
    MemoryLevel l2;
    l2.name = "L2";
    l2.scope = "chip";
    l2.capacity = fact(4e6);
    device->memory.push_back(l2);
    Machine m;
    m.device = device;
    m.runtime = std::make_shared<Runtime>();
    m.units = units;
    for (Resource r : {Resource::matrix_cycles, Resource::vector_cycles, Resource::special_cycles,
                       Resource::overhead_cycles})
        set_rate(m, r, 1e9);
    set_rate(m, Resource::seconds, 1);
    set_rate(m, Resource::dram_bytes, 1e12);
    set_rate(m, Resource::weight_bytes, 1e12);
    set_rate(m, Resource::l2_bytes, 4e12);
    m.matrix_ops_per_cycle[static_cast<std::size_t>(Precision::fp16)] = 1024 * units;
    m.matrix_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 2048 * units;
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::fp32)] = 128 * units;
    return m;
}

/// One operator as a network of its own.
struct OneOperator {
    Operator op;
    ShapedGraph graph;
    Partition partition;
    NetworkWork network;

    SubgraphWork& work() { return network.subgraphs.front(); }
};

inline std::unique_ptr<OneOperator> one_operator(OpKind kind, Precision precision, OperatorWork work,
                                                 double input_elements, double output_elements,
                                                 double weight_elements) {
    auto one = std::make_unique<OneOperator>();
    one->op.work = std::move(work);
    one->op.work.kind = kind;
    one->network.graph = &one->graph;
    one->partition.subgraphs.resize(1);
    one->partition.subgraphs.front().inputs = {0};
    one->network.partition = &one->partition;
    one->network.precision = PrecisionConfig::uniform(precision);
    SubgraphWork s;
    s.kind = kind;
    s.precision = precision;
    s.anchor = &one->op.work;
    s.macs = one->op.work.macs;
    s.vector_ops = one->op.work.vector_ops;
    s.special_ops = one->op.work.special_ops;
    s.input_bytes = input_elements * bytes_of(precision);
    s.output_bytes = output_elements * bytes_of(precision);
    s.weight_bytes = weight_elements * bytes_of(precision);
    OperatorUse use;
    use.op = &one->op;
    use.compute = precision;
    use.anchor = true;
    use.input_elements = input_elements;
    use.output_elements = output_elements;
    use.weight_bytes = s.weight_bytes;
    s.operators.push_back(use);
    one->network.weight_bytes = s.weight_bytes;
    one->network.largest_activation_bytes = s.activation_bytes();
    one->network.subgraphs.push_back(s);
    return one;
}

inline std::unique_ptr<OneOperator> matmul(double m, double n, double k, Precision precision) {
    OperatorWork work;
    work.contractions.push_back({1, m, n, k, true});
    work.macs = m * n * k;
    return one_operator(OpKind::matmul, precision, work, m * k, m * n, n * k);
}

inline std::unique_ptr<OneOperator> convolution(double batch, double in, double out, double side,
                                                double kernel, double groups, Precision precision) {
    OperatorWork work;
    Window w;
    w.batch = batch;
    w.in_channels = in;
    w.out_channels = out;
    w.groups = groups;
    w.in = {1, side, side};
    w.out = {1, side, side};
    w.kernel = {1, kernel, kernel};
    work.window = w;
    const double pixels = batch * side * side;
    work.contractions.push_back({groups, pixels, out / groups, in / groups * kernel * kernel, true});
    work.macs = work.contractions.front().macs();
    return one_operator(OpKind::convolution, precision, work, pixels * in, pixels * out,
                        out * in / groups * kernel * kernel);
}

inline Mapping map(const Mapper& mapper, OneOperator& one, const Machine& machine) {
    Mapping out;
    mapper.map(one.work(), one.network, machine, out);
    return out;
}

/// Sum of a lane's demands in seconds.
inline double lane_seconds(const Mapping& mapping, const Machine& machine, Lane lane) {
    double seconds = 0;
    for (const Demand& d : mapping.all())
        if (d.lane == lane)
            seconds += d.amount / (machine.rate(d.resource) * d.efficiency);
    return seconds;
}

inline const Demand* demand_on(const Mapping& mapping, Resource resource) {
    for (const Demand& d : mapping.all())
        if (d.resource == resource)
            return &d;
    return nullptr;
}

} // namespace archsim::test
