#pragma once
// Hand-made machines and subgraphs for the accelerator mappers.

#include "map/hand_made.hpp"

#include <deque>
#include <limits>

namespace archsim::test {

/// The facts of a TPU: weights stay in `mxu` arrays of rows x cols on each core.
inline void state_arrays(Device& device, double cores, double mxu, double rows, double cols, double lanes) {
    own(device, "cores") = fact(cores);
    own(device, "mxu_per_core") = fact(mxu);
    own(device, "rows") = fact(rows);
    own(device, "cols") = fact(cols);
    own(device, "vector_lanes") = fact(lanes);
    family_fact<std::string>(device, "dataflow") = "weight-stationary";
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
        device->memory.push_back(level("buffer", "chip", fact(bytes)));
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
        const OperatorWork work =
            convolution_work(work_.batch, in_channels, out_channels, size, kernel, groups);
        return subgraph(work, elements_of_convolution(work));
    }
    SubgraphWork& product(double m, double n, double k) {
        return subgraph(product_work(m, n, k), elements_of_product(m, n, k));
    }
    SubgraphWork& simple(OpKind kind, double elements, double vector_ops, double special_ops = 0) {
        OperatorWork work;
        work.kind = kind;
        work.vector_ops = vector_ops;
        work.special_ops = special_ops;
        work.passes = 2;
        return subgraph(work, {elements, 0, elements});
    }
    /// Fuses an element-wise operator of one input behind the other operators of `s`.
    void follow(SubgraphWork& s, double elements, double vector_ops, double special_ops = 0) {
        Operator& op = operators_.emplace_back();
        op.work.kind = OpKind::elementwise;
        op.work.vector_ops = vector_ops;
        op.work.special_ops = special_ops;
        OperatorUse use;
        use.op = &op;
        use.compute = work_.precision.compute;
        use.input_elements = use.output_elements = elements;
        use.read_bytes = use.written_bytes = elements * bytes_of(work_.precision.activations);
        uses_.add(s, use);
        s.unfused_bytes += use.read_bytes + use.written_bytes;
        s.vector_ops += vector_ops;
        s.special_ops += special_ops;
    }
    Uses& uses() { return uses_; }
    const NetworkWork& work() const { return work_; }
    NetworkWork& work() { return work_; }

  private:
    SubgraphWork& subgraph(const OperatorWork& work, const Elements& elements) {
        Operator& op = operators_.emplace_back();
        op.work = work;
        SubgraphWork& s = subgraphs_.emplace_back(subgraph_of(op, elements, work_.precision, uses_));
        s.index = static_cast<std::uint32_t>(subgraphs_.size() - 1);
        work_.weight_bytes += s.weight_bytes;
        work_.macs += s.macs;
        work_.operations += s.operations();
        work_.memory.timeline.push_back(s.activation_bytes());
        work_.memory.peak_live_bytes = std::max(work_.memory.peak_live_bytes, s.activation_bytes());
        work_.subgraphs.push_back(s);
        return s;
    }
    std::deque<Operator> operators_;
    Uses uses_;
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
