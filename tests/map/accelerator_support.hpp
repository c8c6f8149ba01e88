#pragma once
// Hand-made machines and subgraphs for the accelerator mappers.

#include "archsim/map/mapper.hpp"

#include <deque>
#include <limits>

namespace archsim::test {

inline Fact fact(double value) {
    Fact f;
    f.value = value;
    f.source = std::make_shared<const Source>(Source{SourceKind::assumed, "test"});
    return f;
}

/// A device with one matrix engine, and a machine on it.
struct Rig {
    std::shared_ptr<Device> device = std::make_shared<Device>();
    std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();
    MachineOptions options;

    Rig(Family family, double engines, double ops_per_clock, Precision precision = Precision::int8) {
        device->id = "rig";
        device->family = family;
        device->clock_sustained = fact(1e9);
        Engine engine;
        engine.kind = EngineClass::matrix;
        engine.count = engines;
        engine.clock = fact(1e9);
        engine.ops_per_clock[static_cast<std::size_t>(precision)] = fact(ops_per_clock);
        device->engines.push_back(engine);
        device->dram = Dram{"test", fact(1e12), fact(10e9), fact(1.0)};
        runtime->id = "rig";
        runtime->combine_exponent = fact(std::numeric_limits<double>::infinity());
    }
    Rig& set(Parameter p, double value) {
        runtime->parameters.push_back({p, fact(value), {}});
        return *this;
    }
    Rig& buffer(double bytes) {
        device->memory.push_back({"buffer", "chip", fact(bytes), {}, {}});
        return *this;
    }
    Machine machine() const { return make_machine(device, "", runtime, options); }
};

/// Owns operators; subgraphs point into it.
class Network {
  public:
    explicit Network(Precision precision = Precision::int8, double batch = 1) {
        work_.precision = PrecisionConfig::uniform(precision);
        work_.batch = batch;
    }

    /// A square convolution with its fused subgraph.
    SubgraphWork& convolution(double in_channels, double out_channels, double size, double kernel,
                              double groups = 1) {
        Window w;
        w.batch = work_.batch;
        w.in_channels = in_channels;
        w.out_channels = out_channels;
        w.groups = groups;
        w.in = w.out = {1, size, size};
        w.kernel = {1, kernel, kernel};
        Contraction c;
        c.groups = groups;
        c.m = w.batch * size * size;
        c.n = out_channels / groups;
        c.k = in_channels / groups * kernel * kernel;
        Operator& op = add(OpKind::convolution);
        op.work.window = w;
        op.work.contractions = {c};
        op.work.macs = c.macs();
        return subgraph(op, w.batch * in_channels * size * size, c.groups * c.k * c.n, c.m * out_channels);
    }
    SubgraphWork& product(double m, double n, double k) {
        Contraction c;
        c.m = m;
        c.n = n;
        c.k = k;
        Operator& op = add(OpKind::matmul);
        op.work.contractions = {c};
        op.work.macs = c.macs();
        return subgraph(op, m * k, k * n, m * n);
    }
    SubgraphWork& simple(OpKind kind, double elements, double vector_ops, double special_ops = 0) {
        Operator& op = add(kind);
        op.work.vector_ops = vector_ops;
        op.work.special_ops = special_ops;
        op.work.passes = 2;
        return subgraph(op, elements, 0, elements);
    }
    /// Fuses an element-wise operator of one input behind the other operators of `s`.
    void follow(SubgraphWork& s, double elements, double vector_ops, double special_ops = 0) {
        Operator& op = add(OpKind::elementwise);
        op.work.vector_ops = vector_ops;
        op.work.special_ops = special_ops;
        OperatorUse use;
        use.op = &op;
        use.compute = work_.precision.compute;
        use.input_elements = use.output_elements = elements;
        use.read_bytes = use.written_bytes = elements * bytes_of(work_.precision.activations);
        s.operators.push_back(use);
        s.unfused_bytes += use.read_bytes + use.written_bytes;
        s.vector_ops += vector_ops;
        s.special_ops += special_ops;
    }
    const NetworkWork& work() const { return work_; }
    NetworkWork& work() { return work_; }

  private:
    Operator& add(OpKind kind) {
        Operator& op = operators_.emplace_back();
        op.work.kind = kind;
        return op;
    }
    SubgraphWork& subgraph(const Operator& op, double in, double weights, double out) {
        const double width = bytes_of(work_.precision.activations);
        SubgraphWork& s = subgraphs_.emplace_back();
        s.index = static_cast<std::uint32_t>(subgraphs_.size() - 1);
        s.kind = op.work.kind;
        s.precision = work_.precision.compute;
        s.anchor = &op.work;
        OperatorUse use;
        use.op = &op;
        use.compute = work_.precision.compute;
        use.anchor = true;
        use.input_elements = in;
        use.output_elements = out;
        use.read_bytes = in * width;
        use.written_bytes = out * width;
        use.weight_bytes = weights * bytes_of(work_.precision.weights);
        s.operators.push_back(use);
        s.input_bytes = use.read_bytes;
        s.output_bytes = use.written_bytes;
        s.weight_bytes = use.weight_bytes;
        s.unfused_bytes = s.activation_bytes() + s.weight_bytes;
        s.macs = op.work.macs;
        s.vector_ops = op.work.vector_ops;
        s.special_ops = op.work.special_ops;
        work_.weight_bytes += s.weight_bytes;
        work_.macs += s.macs;
        work_.memory.timeline.push_back(s.activation_bytes());
        work_.memory.peak_live_bytes = std::max(work_.memory.peak_live_bytes, s.activation_bytes());
        work_.subgraphs.push_back(s);
        return s;
    }
    std::deque<Operator> operators_;
    std::deque<SubgraphWork> subgraphs_;
    NetworkWork work_;
};

inline Mapping map_one(const Mapper& mapper, const SubgraphWork& s, const Network& network, const Rig& rig) {
    Mapping out;
    mapper.map(s, network.work(), rig.machine(), out);
    return out;
}

/// Sum of amount / efficiency over the demands of one resource and lane.
inline double demand(const Mapping& mapping, Resource resource, Lane lane) {
    double total = 0;
    for (const Demand& d : mapping.all())
        if (d.resource == resource && d.lane == lane)
            total += d.amount / d.efficiency;
    return total;
}

} // namespace archsim::test
