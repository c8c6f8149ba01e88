// What a network in 8 bits costs beside its products: results are scaled, operators without an 8-bit kernel
// run in floats between conversions, convolutions copy their taps into columns.

#include "family/cpu_view.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::cpu {

constexpr double kFloatBytes = 4;
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

double float_bytes_factor(const View& view, const SubgraphWork& work) {
    const bool wide = std::ranges::any_of(
        work.operators, [&](const OperatorUse& use) { return view.between_conversions(use); });
    return wide ? kFloatBytes / bytes_of(view.network.precision.activations) : 1;
}

double conversion_cycles(const View& view, const OperatorUse& use) {
    if (!eight_bit(view))
        return 0;
    const double cycles = view.param(Parameter::conversion_cycles, 0);
    if (!(cycles > 0))
        return 0;
    const auto spread = [&](double elements, double cores) {
        const double vectors = elements / view.lanes;
        return cycles * vectors / cores * View::imbalance(vectors, cores);
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
    const double cycles = view.param(Parameter::scaling_cycles, 0);
    if (!eight_bit(view) || floats || !(cycles > 0))
        return 0;
    const double vectors = use.output_elements / view.lanes;
    return cycles * vectors / view.used * view.imbalance(vectors);
}

double unfold_cycles(const View& view, const OperatorUse& use) {
    if (!eight_bit(view) || use.op->work.kind != OpKind::convolution || !use.op->work.window)
        return 0;
    const double cycles = view.param(Parameter::unfold_cycles, 0);
    if (!(cycles > 0))
        return 0;
    const Window& w = *use.op->work.window;
    // Pointwise reads its input as it is, depthwise walks it.
    if (w.taps() <= 1 || w.in_channels <= w.groups || scales_in_registers(use))
        return 0;
    // The channels of neighbouring taps lie side by side: one copy for a row of taps.
    const double copies = w.batch * w.out_pixels() * w.kernel[0] * w.kernel[1] * w.groups;
    return cycles * copies / view.used * view.imbalance(copies);
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
