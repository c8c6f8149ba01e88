// Kernels of the vector units: depthwise convolution, and everything that bandwidth decides (element-wise chains,
// normalisation, softmax, pooling, copies, sorting).

#include "map/gpu_view.hpp"

#include <algorithm>

namespace archsim::gpu {

namespace {

// Special-function results per clock are a quarter of the vector lanes or fewer: 16 per multiprocessor against 64
// or 128 (CUDA C++ Programming Guide, throughput of native arithmetic instructions). One such result therefore
// costs as much as this many floating-point operations, at two per lane and clock.
constexpr double kOpsPerSpecial = 16;
// Threads of a multiprocessor hold at least this many bytes each of a streaming kernel.
constexpr double kBytesPerThread = 16, kThreadsPerUnit = 1024;

double units_that_fetch(const View& view, double bytes) {
    return std::clamp(bytes / (kBytesPerThread * kThreadsPerUnit), 1.0, view.units);
}

bool normalizes(OpKind kind) {
    return kind == OpKind::normalization || kind == OpKind::softmax;
}

} // namespace

void map_depthwise(const View& view, const SubgraphWork& work, Mapping& out) {
    const double gain = bits_of(work.precision) <= 8 ? view.param(Parameter::narrow_depthwise_gain, 1) : 1.0;
    const double efficiency = view.param(Parameter::depthwise_efficiency, 1);
    const double cycles = 2 * work.macs / (view.vector_fp32 * gain);
    out.add(Resource::vector_cycles, Lane::compute, cycles, efficiency, Parameter::depthwise_efficiency);
    out.ideal_cycles += cycles;
    MultiplyEngine engine;
    engine.ops_per_cycle = view.vector_fp32;
    count_product(work.macs, work.precision, engine, TileChoice{}, bytes_of(work.precision), out.events);
    count_vector(work.vector_ops, work.special_ops, work.output_bytes, out.events);
    View::Traffic traffic;
    traffic.activations = work.activation_bytes();
    traffic.weights = work.weight_bytes * view.param(Parameter::weight_traffic, 1);
    traffic.units_used = units_that_fetch(view, traffic.activations);
    view.add_traffic(out, traffic, view.param(Parameter::depthwise_bandwidth_efficiency, 1),
                     Parameter::depthwise_bandwidth_efficiency);
    view.add_floor(out, false, 1);
    out.allocation.units_total = view.units;
    out.allocation.units_used = traffic.units_used;
    out.allocation.scheme = "depthwise on vector units";
}

void map_simple(const View& view, const SubgraphWork& work, Mapping& out) {
    const double width = normalizes(work.kind) ? view.param(Parameter::normalization_traffic, 1) : 1.0;
    const double passes = work.kind == OpKind::sorting ? std::max(1.0, work.anchor->passes) : 1.0;
    View::Traffic traffic;
    traffic.activations = work.activation_bytes() * width * passes;
    traffic.kv_cache = work.kv_bytes;
    traffic.weights = work.weight_bytes;
    traffic.units_used = units_that_fetch(view, traffic.activations);
    const double efficiency = view.param(Parameter::vector_efficiency, 1);
    if (view.vector_fp32 > 0)
        out.add(Resource::vector_cycles, Lane::compute,
                (work.vector_ops + kOpsPerSpecial * work.special_ops) / view.vector_fp32, efficiency,
                Parameter::vector_efficiency);
    count_vector(work.vector_ops, work.special_ops, traffic.activations, out.events);
    view.add_traffic(out, traffic, view.param(Parameter::simple_bandwidth_efficiency, 1),
                     Parameter::simple_bandwidth_efficiency);
    view.add_floor(out, true, 1);
    out.allocation.units_total = view.units;
    out.allocation.units_used = traffic.units_used;
    out.allocation.scheme = normalizes(work.kind) ? "reduction kernel" : "streaming kernel";
}

} // namespace archsim::gpu
