// Everything outside contractions: cycles per vector of elements, or bytes; and the events of what the cores
// run.

#include "family/cpu_view.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::cpu {

// Softmax walks its row for the maximum, the exponentials and the scaling; a normalisation for moments and
// scaling.
constexpr double kSoftmaxFactor = 2;
// Windowed reductions load and combine every input element; the rest produce one output per element.
constexpr double kPoolingFactor = 2;

/// Cost per result of 8-bit kernels that compute one value at a time; count_: none such.
static Parameter one_by_one(const View& view, const OperatorUse& use) {
    return view.network.precision.activations != Precision::int8 ? Parameter::count_
           : use.op->type == "AveragePool"                       ? Parameter::average_pooling_cycles
           : use.op->work.kind == OpKind::softmax                ? Parameter::integer_softmax_cycles
           : view.looked_up(use)                                 ? Parameter::lookup_cycles
                                                                 : Parameter::count_;
}

/// Normalisations that sum over their input; a batch normalisation scales by constants.
static bool sums_in_order(const OperatorUse& use) {
    return use.op->work.kind == OpKind::normalization && use.op->work.special_ops > 0;
}

static bool error_function(const OperatorUse& use) {
    return use.op->type == "Erf" || use.op->type == "Gelu" || use.op->type == "BiasGelu";
}

// Register blocking of vector micro-kernels (six rows by four vectors, oneDNN jit kernels): 24 multiply-adds
// take four vector loads and six broadcasts, so every product instruction brings 10 / 24 loads.
constexpr double kLoadsPerProduct = 10.0 / 24.0;
// Operands and result of a vector instruction; a matrix instruction reads two operands and its accumulators,
// and writes these (Intel's AMX: three 1 KiB tiles read, one written).
constexpr double kVectorOperands = 4;
constexpr double kBytesPerLane = 4;

double head_count(const View& view, const OperatorUse& use) {
    double heads = 1;
    if (use.op->outputs.empty() || use.op->outputs.front() == kNoTensor)
        return heads;
    const Shape& shape = view.network.graph->tensors[use.op->outputs.front()].shape;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i)
        heads *= static_cast<double>(shape[i]);
    return heads;
}

double vector_cycles(const View& view, const OperatorUse& use, double blocks) {
    const double simple = view.param(Parameter::element_cycles, 1);
    double heavy = view.param(Parameter::transcendental_cycles, simple);
    if (error_function(use))
        heavy = view.param(Parameter::error_function_cycles, heavy);
    // Native half precision doubles the elements of a vector; softmax and normalisation accumulate in fp32.
    const bool half = use.compute == Precision::fp16 && view.machine.vector_ops(Precision::fp16) > 0;
    double lanes = view.lanes * (half ? 2 : 1);
    double cycles = 0;
    const double cores = view.cores_for(use);
    if (const Parameter cost = one_by_one(view, use); cost != Parameter::count_ && view.param(cost, 0) > 0)
        return view.cycles_of(cost, use.output_elements, cores);
    if (const double each = view.param(Parameter::ordered_sum_cycles, 0); each > 0 && sums_in_order(use))
        return each * use.input_elements / cores * View::imbalance(blocks, cores);
    switch (use.op->work.kind) {
    case OpKind::pooling:
    case OpKind::reduction:
        cycles = use.input_elements * simple * kPoolingFactor;
        break;
    case OpKind::softmax:
        cycles = use.output_elements * heavy * kSoftmaxFactor;
        lanes = view.lanes;
        break;
    case OpKind::normalization:
        cycles = use.output_elements * heavy;
        lanes = view.lanes;
        break;
    default:
        cycles = use.output_elements * (use.op->work.special_ops > 0 ? heavy : simple);
        break;
    }
    return cycles / (lanes * cores) * View::imbalance(blocks, cores);
}

double relayout_cycles(const View& view, const SubgraphWork& work) {
    return is_integer(view.network.precision.activations)
               ? 0
               : view.cycles_of(Parameter::relayout_cycles, work.relaid_elements / view.lanes, view.used);
}

constexpr double kFloatBytes = 4;

/// Bytes of a subgraph's activations relative to 8-bit ones: 4 when one of its operators computes in floats.
static double float_bytes_factor(const View& view, const SubgraphWork& work) {
    const bool wide = std::ranges::any_of(
        work.operators, [&](const OperatorUse& use) { return view.between_conversions(use); });
    return wide ? kFloatBytes / bytes_of(view.network.precision.activations) : 1;
}

void map_vector(const View& view, const SubgraphWork& work, Mapping& out) {
    double cycles = 0, blocks = 1;
    for (const OperatorUse& use : work.operators) {
        const bool per_head =
            use.op->work.kind == OpKind::softmax && view.param(Parameter::head_parallel_attention, 0) > 0;
        blocks = per_head ? head_count(view, use) : std::max(1.0, use.output_elements / view.lanes);
        cycles += vector_cycles(view, use, blocks) + conversion_cycles(view, use);
    }
    out.add(Resource::vector_cycles, Lane::compute, cycles + relayout_cycles(view, work));
    out.ideal_cycles =
        view.vector_fp32 > 0 ? (work.vector_ops + work.special_ops) / (view.vector_fp32 * view.used) : 0;
    count_vector(view, work.vector_ops, work.special_ops, out.events);
    const double wide = view.wide_bytes > 0 ? view.wide_bytes / bytes_of(view.network.precision.activations)
                                            : float_bytes_factor(view, work);
    View::Traffic traffic;
    traffic.input = work.input_bytes * wide;
    traffic.output = (work.output_bytes + work.extra_bytes) * wide;
    traffic.weights = work.weight_bytes;
    traffic.input_share = traffic.output_share = traffic.weight_share = 1 / view.used;
    view.add_traffic(out, traffic);
    view.add_fork_join(out, 1);
    out.allocation.units_total = view.cores;
    out.allocation.units_used = std::min(view.used, blocks);
    out.allocation.scheme = "vector loop";
}

void count_product(double macs, Precision precision, const MultiplyUnit& unit, EventCounts& events) {
    events.mac(precision) += macs;
    const double products = macs / unit.macs_per_instruction;
    events[Event::instruction] += products * (1 + kLoadsPerProduct);
    const double loaded = unit.matrix ? unit.operand_bytes : unit.n_step * bytes_of(precision) * unit.k_step;
    events[Event::register_byte] +=
        products * (unit.matrix ? 2 * (unit.operand_bytes + unit.result_bytes) : kVectorOperands * loaded);
    events[Event::l1_byte] += products * kLoadsPerProduct * loaded;
}

void count_vector(const View& view, double vector_ops, double special_ops, EventCounts& events) {
    events[Event::vector_op] += vector_ops;
    events[Event::special_op] += special_ops;
    const double instructions = (vector_ops + special_ops) / view.lanes;
    events[Event::instruction] += 2 * instructions; // with its load or store
    events[Event::register_byte] += instructions * kVectorOperands * view.lanes * kBytesPerLane;
}

// The costs of a network in 8 bits beside its products: results are scaled, operators without an 8-bit kernel
// run in floats between conversions, convolutions copy their taps into columns.

// Depthwise kernels take 16 channels at a time, one register of 8-bit values, and convolutions that read
// their input through pointers 4 with one instruction (microsoft/onnxruntime, onnxruntime/core/mlas/lib/
// convsym.cpp: MlasConvSymPackWSize and the dispatch tables of AVX-512).
constexpr double kDepthwiseChannels = 16;
constexpr double kPointerChannels = 4;

// Element-wise kernels of two 8-bit tensors are shared out at one cycle an element (microsoft/onnxruntime,
// onnxruntime/contrib_ops/cpu/qlinear_binary_op.cc) by a pool that takes threads by Eigen's TensorCostModel:
// (cost - start) / cost of a thread + 0.9, cut off, both costs 100,000 cycles. Worked: 802,816 elements keep
// 7 threads busy, 200,000 one, which is why profiles on two threads show no gain.
constexpr double kElementsPerThread = 100000, kThreadRounding = 0.9;

static bool eight_bit(const View& view) {
    return view.network.precision.activations == Precision::int8;
}

/// Limits fold into the scaling of the result that they follow; moves keep the scale they find.
static bool keeps_scale(const OperatorUse& use) {
    return use.op->type == "Relu" || use.op->type == "Clip" || use.op->work.kind == OpKind::data_movement ||
           use.op->work.kind == OpKind::pooling;
}

/// Convolutions with whole steps of channels read their input through pointers to the pixels under each tap,
/// and scale their sums while those are in registers.
static bool scales_in_registers(const OperatorUse& use) {
    if (use.op->work.kind != OpKind::convolution || !use.op->work.window)
        return false;
    const Window& w = *use.op->work.window;
    if (w.groups > 1)
        return w.in_channels <= w.groups && std::fmod(w.out_channels, kDepthwiseChannels) == 0;
    return std::fmod(w.in_channels, kPointerChannels) == 0 &&
           std::fmod(w.out_channels, kPointerChannels) == 0 && w.out_channels >= kDepthwiseChannels;
}

/// A concatenation brings each of its inputs to the scale of its result. Stacks that run one operator after
/// another write every tensor at its own calibrated scale, whoever reads it, so that all elements pass here
/// again; compilers of accelerators let a branch write at the scale of the result instead
/// (accelerator::requantized_inputs).
static bool joins_scales(const OperatorUse& use) {
    return use.op->type == "Concat";
}

bool View::between_conversions(const OperatorUse& use) const {
    const auto& integer = machine.runtime->integer_operators;
    return eight_bit(*this) && !integer.empty() && !keeps_scale(use) &&
           std::ranges::find(integer, use.op->type) == integer.end();
}

bool View::looked_up(const OperatorUse& use) const {
    return eight_bit(*this) && use.op->work.kind == OpKind::elementwise && use.op->work.special_ops > 0 &&
           param(Parameter::lookup_cycles, 0) > 0 && !between_conversions(use);
}

double View::cores_for(std::string_view type) const {
    const auto& alone = machine.runtime->one_thread_operators;
    return eight_bit(*this) && std::ranges::find(alone, type) != alone.end() ? 1 : used;
}

double View::cores_for(const OperatorUse& use) const {
    const double listed = cores_for(use.op->type);
    if (listed == used || use.op->work.kind != OpKind::elementwise || between_conversions(use) ||
        use.input_elements <= use.output_elements)
        return listed;
    const double threads = std::floor(use.output_elements / kElementsPerThread - 1 + kThreadRounding);
    return std::clamp(threads, listed, used);
}

double conversion_cycles(const View& view, const OperatorUse& use) {
    if (!eight_bit(view))
        return 0;
    const auto spread = [&](double elements, double cores) {
        return view.cycles_of(Parameter::conversion_cycles, elements / view.lanes, cores);
    };
    if (view.between_conversions(use))
        return spread(use.input_elements, view.cores_for("DequantizeLinear")) +
               spread(use.output_elements, view.used);
    if (scales_in_registers(use) || view.looked_up(use)) // a table holds scaled results
        return 0;
    return !keeps_scale(use) || joins_scales(use) ? spread(use.output_elements, view.cores_for(use)) : 0;
}

double scaling_cycles(const View& view, const OperatorUse& use) {
    // Products of two activations run in floats where a stack states a width for what is no layer.
    const bool floats = view.wide_bytes > 0 && !use.op->work.contractions.empty() &&
                        !use.op->work.contractions.front().weights_constant;
    return !eight_bit(view) || floats
               ? 0
               : view.cycles_of(Parameter::scaling_cycles, use.output_elements / view.lanes, view.used);
}

double unfold_cycles(const View& view, const OperatorUse& use) {
    if (!eight_bit(view) || use.op->work.kind != OpKind::convolution || !use.op->work.window)
        return 0;
    const Window& w = *use.op->work.window;
    // Pointwise reads its input as it is, depthwise walks it.
    if (w.taps() <= 1 || w.in_channels <= w.groups || scales_in_registers(use))
        return 0;
    // The channels of neighbouring taps lie side by side: one copy for a row of taps.
    const double copies = w.batch * w.out_pixels() * w.kernel[0] * w.kernel[1] * w.groups;
    return view.cycles_of(Parameter::unfold_cycles, copies, view.used);
}

double widened_depthwise_cycles(const View& view, const OperatorUse& use) {
    const double cycles = view.param(Parameter::widened_depthwise_cycles, 0);
    const Window& w = *use.op->work.window;
    if (!eight_bit(view) || !(cycles > 0) || std::fmod(w.out_channels, kDepthwiseChannels) == 0)
        return 0;
    const double vectors = w.batch * w.out_pixels() * std::ceil(w.out_channels / kDepthwiseChannels);
    return cycles * vectors * w.taps() / view.used;
}

double wide_sums(const View& view, const OperatorUse& use, const Contraction& product) {
    if (!eight_bit(view) || use.op->work.kind == OpKind::convolution)
        return 0;
    return view.param(Parameter::product_sum_bytes, 0) * product.groups * product.m * product.n;
}

} // namespace archsim::cpu
