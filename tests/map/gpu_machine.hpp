#pragma once
// A small machine and hand-made subgraphs for tests of the GPU and CPU mappers.

#include "hardware/device_files.hpp"
#include "map/hand_made.hpp"

#include <memory>
#include <utility>

namespace archsim::test {

inline void set_rate(Machine& m, Resource r, double value) {
    m.rates[static_cast<std::size_t>(r)].value = value;
}
inline void set(Machine& m, Parameter p, double value) {
    m.parameters.facts[static_cast<std::size_t>(p)].value = value;
}

/// `units` multiprocessors at 1 GHz, 1 TB/s of DRAM, 4 MB of L2 at 4 TB/s; per cycle and unit 1024 fp16 and
/// 2048 int8 operations in a matrix engine, 128 fp32 on vector lanes.
inline Machine gpu_machine(double units = 100) {
    auto device = std::make_shared<Device>();
    device->family = Family("gpu");
    MemoryLevel l2 = memory_level("L2", "chip");
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

/// The same with another L2.
inline Machine with_cache(Machine m, double bytes) {
    auto device = std::make_shared<Device>(*m.device);
    device->memory.front().capacity = fact(bytes);
    m.device = std::move(device);
    return m;
}

/// One operator as a network of its own.
struct OneOperator {
    Operator op;
    Uses uses;
    ShapedGraph graph;
    Partition partition;
    NetworkWork network;

    SubgraphWork& work() { return network.subgraphs.front(); }
};

inline std::unique_ptr<OneOperator> one_operator(OperatorWork work, Precision precision,
                                                 const Elements& elements) {
    auto one = std::make_unique<OneOperator>();
    one->op.work = std::move(work);
    one->network.graph = &one->graph;
    one->partition.subgraphs.resize(1);
    one->partition.subgraphs.front().inputs = {0};
    one->network.partition = &one->partition;
    one->network.precision = PrecisionConfig::uniform(precision);
    const SubgraphWork s = subgraph_of(one->op, elements, one->network.precision, one->uses);
    one->network.weight_bytes = s.weight_bytes;
    one->network.largest_activation_bytes = s.activation_bytes();
    one->network.subgraphs.push_back(s);
    return one;
}
inline std::unique_ptr<OneOperator> one_operator(OpKind kind, Precision precision, OperatorWork work,
                                                 double input_elements, double output_elements,
                                                 double weight_elements) {
    work.kind = kind;
    return one_operator(std::move(work), precision, {input_elements, weight_elements, output_elements});
}

inline std::unique_ptr<OneOperator> matmul(double m, double n, double k, Precision precision) {
    return one_operator(product_work(m, n, k), precision, elements_of_product(m, n, k));
}

inline std::unique_ptr<OneOperator> convolution(double batch, double in, double out, double side,
                                                double kernel, double groups, Precision precision) {
    const OperatorWork work = convolution_work(batch, in, out, side, kernel, groups);
    return one_operator(work, precision, elements_of_convolution(work));
}

inline Mapping map(const Mapper& mapper, OneOperator& one, const Machine& machine) {
    Mapping out;
    mapper.map(one.work(), one.network, machine, out);
    return out;
}

/// By the mapper of the machine's family.
inline Mapping counted(OneOperator& one, const Machine& machine) {
    return map(mapper_for(machine.device->family), one, machine);
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
