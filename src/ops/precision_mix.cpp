#include "ops/precision_mix.hpp"

#include "core/product_format.hpp"

#include <algorithm>
#include <map>

namespace archsim {

/// Floating types by the names that the tools' --precision takes.
static std::string_view format_of(DataType type) {
    switch (type) {
    case DataType::float64:
        return name_of(Precision::fp64);
    case DataType::float32:
        return name_of(Precision::fp32);
    case DataType::float16:
        return name_of(Precision::fp16);
    case DataType::bfloat16:
        return name_of(Precision::bf16);
    default:
        return name_of(type);
    }
}

/// Bits of the widest matrix that the checkpoint quantised and the operator multiplies with; 0: of none.
static double quantised_bits(const ShapedGraph& graph, const Operator& op) {
    double widest = 0;
    for (const TensorId in : op.inputs)
        if (in != kNoTensor && graph.tensors[in].constant && !graph.tensors[in].weight_only &&
            graph.tensors[in].storage_bits < bits_of(Precision::bf16))
            widest = std::max(widest, graph.tensors[in].storage_bits);
    return widest;
}

bool meets_weight_only(const ShapedGraph& graph, const Operator& op) {
    return std::ranges::any_of(op.inputs,
                               [&](TensorId in) { return in != kNoTensor && graph.tensors[in].weight_only; });
}

std::string_view declared_format(const ShapedGraph& graph, const Operator& op) {
    if (op.native_precision)
        return name_of(*op.native_precision);
    if (graph.stored_products && !op.work.contractions.empty()) {
        if (const double bits = quantised_bits(graph, op); bits > 0)
            return name_of(product_format(bits, *graph.stored_products));
    }
    for (const auto* ids : {&op.outputs, &op.inputs})
        for (const TensorId id : *ids)
            if (id != kNoTensor && is_floating(graph.tensors[id].type))
                return format_of(graph.tensors[id].type);
    for (const TensorId id : op.outputs)
        if (id != kNoTensor)
            return format_of(graph.tensors[id].type);
    return format_of(DataType::undefined);
}

std::vector<FormatShare> precision_mix(const ShapedGraph& graph) {
    std::map<std::string_view, FormatShare> shares;
    for (const Operator& op : graph.operators) {
        if (op.folded || op.work.kind == OpKind::free)
            continue;
        FormatShare& share = shares[declared_format(graph, op)];
        share.operators += 1;
        share.macs += op.repeat * op.work.macs;
        share.operations += op.repeat * op.work.operations();
    }
    std::vector<FormatShare> mix;
    for (auto& [format, share] : shares) {
        share.format = format;
        mix.push_back(std::move(share));
    }
    std::ranges::stable_sort(mix, std::ranges::greater{}, &FormatShare::operations);
    return mix;
}

std::vector<WeightShare> weight_mix(const ShapedGraph& graph) {
    std::map<double, double> parameters;
    for (const ShapedTensor& tensor : graph.tensors)
        if (tensor.learned && tensor.known)
            parameters[tensor.stored_bits() / tensor.packing] += tensor.elements() * tensor.packing;
    std::vector<WeightShare> mix;
    for (const auto& [bits, count] : parameters)
        mix.push_back({bits, count});
    std::ranges::stable_sort(mix, std::ranges::greater{}, &WeightShare::parameters);
    return mix;
}

bool is_quantized(const ShapedGraph& graph) {
    constexpr double kNarrowestPlainFloat = 16;
    const auto prescribed = [](const Operator& op) {
        return !op.folded && op.native_precision && bits_of(*op.native_precision) < kNarrowestPlainFloat;
    };
    const auto narrow = [](const WeightShare& share) { return share.bits < kNarrowestPlainFloat; };
    const std::vector<WeightShare> weights = weight_mix(graph);
    return std::ranges::any_of(graph.operators, prescribed) || std::ranges::any_of(weights, narrow);
}

} // namespace archsim
