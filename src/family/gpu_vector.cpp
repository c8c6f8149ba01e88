// Kernels of the vector units: depthwise convolution, and everything that bandwidth decides (element-wise
// chains, normalisation, softmax, pooling, copies, sorting).

#include "core/same_everywhere.hpp"
#include "family/gpu_view.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::gpu {

// Threads of a multiprocessor hold at least this many bytes each of a streaming kernel.
constexpr double kBytesPerThread = 16, kThreadsPerUnit = 1024;

static double units_that_fetch(const View& view, double bytes) {
    return std::clamp(bytes / (kBytesPerThread * kThreadsPerUnit), 1.0, view.units);
}

/// A transpose between channels-first and channels-last order.
static bool moves_channels(const View& view, const Operator& op) {
    if (op.type != "Transpose" || op.inputs.empty() || op.outputs.empty())
        return false;
    const Shape& from = view.network.graph->tensors[op.inputs[0]].shape;
    const Shape& to = view.network.graph->tensors[op.outputs[0]].shape;
    if (from.size() != 4 || to.size() != 4 || from[0] != to[0])
        return false;
    const bool last = from[1] == to[3] && from[2] == to[1] && from[3] == to[2];
    const bool first = from[3] == to[1] && from[1] == to[2] && from[2] == to[3];
    return last || first;
}

/// Stacks that keep activations channels-last in memory only relabel the axes of such transposes, for kernels
/// that read the one order or the other.
static bool is_relabelling(const View& view, const SubgraphWork& work) {
    if (work.kind != OpKind::data_movement || !view.channels_last() ||
        std::ranges::all_of(view.network.subgraphs,
                            [](const SubgraphWork& s) { return s.kind == OpKind::data_movement; }))
        return false;
    return std::ranges::all_of(work.operators,
                               [&](const OperatorUse& use) { return moves_channels(view, *use.op); });
}

// Threads that execute together (CUDA C++ Programming Guide, SIMT architecture).
constexpr double kWarp = 32;

/// Some operand has fewer elements than what is computed from it, and more than one.
static bool broadcasts(const View& view, const OperatorUse& use) {
    return std::ranges::any_of(use.op->inputs, [&](TensorId id) {
        if (id == kNoTensor)
            return false;
        const double elements = view.network.graph->tensors[id].elements();
        return elements > 1 && elements < use.output_elements;
    });
}

/// Some operand is narrower than what is computed from it. Copies that narrow have kernels of their own.
static bool widens(const OperatorUse& use) {
    constexpr double kUnlike = 1.01;
    return use.input_elements > 0 && use.output_elements > 0 &&
           use.read_bytes / use.input_elements * kUnlike < use.written_bytes / use.output_elements;
}

static bool has_groups(const Operator& op) {
    return op.type == "GroupNormalization" || op.type == "InstanceNormalization";
}

/// The cost of finding elements in kernels of a framework: they read rows in steps of a vector where all
/// operands are alike, and otherwise compute where each element lies in each operand, also of a copy in
/// another order. Normalisation by groups of channels takes two: one over the statistics, one that scales by
/// channels. Worked: 100 M elements of one tensor times a row, 47.5 operations of integers each, take 0.29 ms
/// of the 8,448 lanes that an H100 has for them, at 1.95 GHz; memory alone would take 0.13.
static void add_index_work(const View& view, const SubgraphWork& work, Mapping& out) {
    const double each = view.param(Parameter::index_operations, 0);
    if (each <= 0)
        return;
    double elements = 0;
    for (const OperatorUse& use : work.operators) {
        const OpKind kind = use.op->work.kind;
        if (kind == OpKind::elementwise)
            elements += use.output_elements * ((broadcasts(view, use) ? 1 : 0) + (widens(use) ? 1 : 0));
        else if (kind == OpKind::normalization && has_groups(*use.op))
            elements += 2 * use.output_elements;
        else if (use.op->type == "Transpose")
            elements += use.output_elements;
    }
    out.add(Resource::vector_cycles, Lane::compute, view.index_cycles(each * elements));
    count_vector(each * elements, 0, 0, out.events);
}

/// Results of reductions, each by a warp whose threads have to agree on it; shorter rows share one.
/// Worked: 1.57 M rows of 64 at 78 cycles are 0.48 ms on the 132 multiprocessors of an H100 at 1.95 GHz, 0.12
/// ms of which memory would take.
static void add_row_work(const View& view, const SubgraphWork& work, Mapping& out) {
    const double each = view.param(Parameter::reduction_row_cycles, 0);
    if (each <= 0)
        return;
    double rows = 0;
    for (const OperatorUse& use : work.operators)
        if (use.op->work.kind == OpKind::reduction && use.output_elements < use.input_elements)
            rows += use.output_elements * std::min(1.0, use.input_elements / use.output_elements / kWarp);
    out.add(Resource::overhead_cycles, Lane::compute, each * rows / view.units);
}

static bool normalizes(OpKind kind) {
    return kind == OpKind::normalization || kind == OpKind::softmax;
}

void map_depthwise(const View& view, const SubgraphWork& work, Mapping& out) {
    // Loads and stores limit these kernels as much as arithmetic does: every halving of the width helps.
    const double halvings = std::max(0.0, std::log2(32.0 / bits_of(work.precision)));
    const double gain = same_everywhere(std::pow(view.param(Parameter::narrow_depthwise_gain, 1), halvings));
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
    traffic.weights = work.weight_bytes * view.weight_passes(work.precision);
    traffic.units_used = units_that_fetch(view, traffic.activations);
    view.add_traffic(out, traffic, view.param(Parameter::depthwise_bandwidth_efficiency, 1),
                     Parameter::depthwise_bandwidth_efficiency);
    view.add_floor(out, false, 1);
    view.add_copies(out, narrowing_of(work));
    out.allocation.units_total = view.units;
    out.allocation.units_used = traffic.units_used;
    out.allocation.scheme = "depthwise on vector units";
}

void map_simple(const View& view, const SubgraphWork& work, Mapping& out) {
    out.allocation.units_total = view.units;
    if (is_relabelling(view, work)) {
        out.allocation.scheme = "axes relabelled";
        return;
    }
    const double width = normalizes(work.kind) ? view.param(Parameter::normalization_traffic, 1) : 1.0;
    const double passes = work.kind == OpKind::sorting ? std::max(1.0, work.anchor->passes) : 1.0;
    // Statistics of groups of channels outgrow the cache: what is scaled is read again.
    const bool again =
        view.param(Parameter::index_operations, 0) > 0 && work.kind == OpKind::normalization &&
        std::ranges::any_of(work.operators, [](const OperatorUse& use) { return has_groups(*use.op); });
    View::Traffic traffic;
    traffic.activations = work.activation_bytes() * width * passes + (again ? work.input_bytes : 0);
    traffic.kv_cache = work.kv_bytes;
    traffic.weights = work.weight_bytes;
    traffic.units_used = units_that_fetch(view, traffic.activations);
    view.add_vector_work(out, work.vector_ops, work.special_ops);
    add_index_work(view, work, out);
    add_row_work(view, work, out);
    count_vector(work.vector_ops, work.special_ops, traffic.activations, out.events);
    view.add_traffic(out, traffic, view.param(Parameter::simple_bandwidth_efficiency, 1),
                     Parameter::simple_bandwidth_efficiency);
    view.add_floor(out, true, 1);
    out.allocation.units_used = traffic.units_used;
    out.allocation.scheme = normalizes(work.kind) ? "reduction kernel" : "streaming kernel";
}

} // namespace archsim::gpu
