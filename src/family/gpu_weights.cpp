// Weights of a product: how a checkpoint stores them, in what they are multiplied, and how often they are
// read.

#include "core/product_format.hpp"
#include "family/gpu_product.hpp"

#include <algorithm>

namespace archsim::gpu {

/// Bits per weight of the product that a checkpoint states tensor by tensor; 0: it leaves that to the
/// request.
static double stated_weight_bits(const View& view, const SubgraphWork& work) {
    if (!view.network.graph || !view.network.graph->stored_weights)
        return 0;
    double bits = 0;
    for (const OperatorUse& use : work.operators)
        for (const TensorId id : use.op->inputs)
            if (use.anchor && id != kNoTensor && view.network.graph->tensors[id].constant)
                bits = std::max(bits, view.network.graph->tensors[id].storage_bits);
    const PrecisionConfig& precision = view.network.precision;
    return precision.requantized && bits < bits_of(Precision::bf16)
               ? bits_of(precision.weights) + precision.weight_bits_overhead
               : bits;
}

static bool has_four_bits(const View& view, const SubgraphWork& work) {
    const double stated = stated_weight_bits(view, work);
    return stated > 0 ? is_four_bit(stated) : is_four_bit(bits_of(view.network.precision.weights));
}

/// The product with an output projection that a scheme keeps as wide as what it multiplies.
static bool has_wide_weights(const View& view, const SubgraphWork& work) {
    if (view.network.precision.head_bits < bits_of(work.precision))
        return false;
    double weights = 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions)
            weights += c.weights_constant ? c.groups * c.n * c.k : 0;
    constexpr double kBetween = 0.75; // of the width: narrower schemes take half of it and their scales
    return work.weight_bytes * 8 > kBetween * weights * bits_of(work.precision);
}

bool has_packed_weights(const View& view, const SubgraphWork& work) {
    return bits_of(view.network.precision.weights) < bits_of(work.precision) &&
           stated_weight_bits(view, work) < bits_of(work.precision) && !has_wide_weights(view, work);
}

Precision multiplied_in(const View& view, const SubgraphWork& work, const Contraction& c) {
    const double from = view.param(Parameter::dynamic_quantization_rows, 0);
    const bool quantises = from > 0 && c.m >= from && c.weights_constant && has_packed_weights(view, work) &&
                           is_integer(view.network.precision.weights) &&
                           view.machine.matrix_ops(Precision::int8) > 0;
    return quantises ? Precision::int8 : work.precision;
}

bool has_experts(const SubgraphWork& work) {
    return work.anchor && work.kind == OpKind::matmul &&
           std::ranges::count_if(work.anchor->contractions, &Contraction::weights_constant) > 1;
}

Contraction padded_expert(const View& view, const SubgraphWork& work, Contraction c) {
    if (!c.weights_constant || !has_experts(work) || !has_four_bits(view, work))
        return c;
    const auto& all = work.anchor->contractions;
    // The last product leads back from the inner width, the others to it.
    const bool back = c.n == all.back().n && c.k == all.back().k && all.front().n == c.k;
    const double inner = view.param(Parameter::packed_expert_inner, 1),
                 outer = view.param(Parameter::packed_expert_outer, 1);
    c.n = round_up(c.n, back ? outer : inner);
    c.k = round_up(c.k, back ? inner : outer);
    return c;
}

double rows_of(const View& view, const SubgraphWork& work, double most) {
    if (!has_experts(work))
        return most;
    const double inputs = work.anchor->contractions.front().k;
    for (const OperatorUse& use : work.operators)
        if (use.anchor && view.network.graph && inputs > 0 && !use.op->inputs.empty() &&
            use.op->inputs.front() != kNoTensor)
            return view.network.graph->tensors[use.op->inputs.front()].elements() / inputs;
    return most;
}

double passes_over(const View& view, double rows) {
    const double microbatch = view.param(Parameter::microbatch_rows, 0);
    return microbatch > 0 ? std::max(1.0, std::ceil(rows / microbatch)) : 1;
}

double expanded_weights(const View& view, const SubgraphWork& work, double rows) {
    const double expand_from = view.param(Parameter::dequantization_rows, 0);
    const PrecisionConfig& precision = view.network.precision;
    // Products with the weights of experts read them packed however many rows they have (llama.cpp,
    // ggml_cuda_mul_mat_id and ggml_cuda_should_use_mmq).
    if (expand_from <= 0 || rows < expand_from || !has_packed_weights(view, work) || has_experts(work))
        return 0;
    const double stated = stated_weight_bits(view, work);
    const double bits = stated > 0 ? stated : bits_of(precision.weights) + precision.weight_bits_overhead;
    return work.weight_bytes * 8 / bits * bytes_of(work.precision);
}

double weight_traffic(const View& view, const SubgraphWork& work, double rows, double expanded) {
    const double passes = passes_over(view, rows);
    double stored = 0, padded = 0;
    if (has_experts(work))
        for (const Contraction& c : work.anchor->contractions)
            if (const Contraction whole = padded_expert(view, work, c); c.weights_constant) {
                stored += c.groups * c.n * c.k;
                padded += whole.groups * whole.n * whole.k;
            }
    const double wider = stored > 0 ? padded / stored : 1;
    return (work.weight_bytes * wider * view.weight_passes(work.precision) + 2 * expanded) * passes;
}

} // namespace archsim::gpu
