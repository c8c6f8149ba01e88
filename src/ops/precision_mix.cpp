#include "ops/precision_mix.hpp"

#include "core/product_format.hpp"
#include "ops/passes.hpp"

namespace archsim {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// Producer of every tensor as an index into the operators.
static std::vector<std::uint32_t> producers_of(const ShapedGraph& graph) {
    std::vector<std::uint32_t> producers(graph.tensors.size(), kNone);
    for (std::size_t i = 0; i < graph.operators.size(); ++i)
        for (const TensorId id : graph.operators[i].outputs)
            if (id != kNoTensor)
                producers[id] = static_cast<std::uint32_t>(i);
    return producers;
}

static bool is_quantize(const Operator& op) {
    return op.type == "QuantizeLinear" || op.type == "com.microsoft.QuantizeLinear";
}
static bool is_dequantize(const Operator& op) {
    return op.type == "DequantizeLinear" || op.type == "com.microsoft.DequantizeLinear";
}

static std::optional<Precision> precision_of(DataType type) {
    switch (type) {
    case DataType::int8:
    case DataType::uint8:
        return Precision::int8;
    case DataType::int16:
    case DataType::uint16:
        return Precision::int16;
    case DataType::int4:
    case DataType::uint4:
    case DataType::int2:
    case DataType::uint2:
        return Precision::int4;
    case DataType::float8e4m3fn:
    case DataType::float8e4m3fnuz:
    case DataType::float8e5m2:
    case DataType::float8e5m2fnuz:
        return Precision::fp8;
    case DataType::float4e2m1:
        return Precision::fp4;
    default:
        return std::nullopt;
    }
}

/// Operators that only move elements hand the quantised form of their input through.
static bool moves_only(const Operator& op) {
    return op.work.kind == OpKind::free || op.work.kind == OpKind::data_movement || op.folded;
}

static bool multiplies(const Operator& op) {
    return op.work.kind == OpKind::convolution || op.work.kind == OpKind::matmul ||
           op.work.kind == OpKind::attention;
}

/// For every tensor the quantised type that lies behind it, if a DequantizeLinear stands between.
class QuantizedForms {
  public:
    explicit QuantizedForms(ShapedGraph& graph)
        : graph_(graph), types_(graph.tensors.size(), DataType::undefined) {}

    DataType of(TensorId id) const { return id == kNoTensor ? DataType::undefined : types_[id]; }

    void visit(Operator& op) {
        if (op.inputs.empty() || op.outputs.empty() || op.inputs[0] == kNoTensor ||
            op.outputs[0] == kNoTensor)
            return;
        const ShapedTensor& from = graph_.tensors[op.inputs[0]];
        if (is_dequantize(op)) {
            types_[op.outputs[0]] = from.type;
            store_as(op, from);
        } else if (moves_only(op) && of(op.inputs[0]) != DataType::undefined) {
            for (const TensorId id : op.outputs) {
                if (id == kNoTensor)
                    continue;
                types_[id] = of(op.inputs[0]);
                graph_.tensors[id].storage_bits = from.storage_bits;
            }
        }
    }

  private:
    /// The packed bits of the stored tensor and, spread over its elements, those of scales and zero points.
    void store_as(Operator& op, const ShapedTensor& from) {
        double bits = from.stored_bits();
        const double elements = from.elements();
        if (from.constant && elements > 0)
            for (std::size_t i = 1; i < op.inputs.size(); ++i)
                if (op.inputs[i] != kNoTensor) {
                    const ShapedTensor& scale = graph_.tensors[op.inputs[i]];
                    bits += scale.stored_bits() * scale.elements() / elements;
                }
        graph_.tensors[op.outputs[0]].storage_bits = bits;
        if (from.role == TensorRole::initializer)
            graph_.tensors[op.inputs[0]].learned = true;
    }

    ShapedGraph& graph_;
    std::vector<DataType> types_;
};

/// The format an operator multiplies in when both operands are quantised: the wider of the two.
static std::optional<Precision> common_precision(DataType a, DataType b) {
    const auto pa = precision_of(a), pb = precision_of(b);
    if (!pa || !pb)
        return std::nullopt;
    return bits_of(*pa) >= bits_of(*pb) ? pa : pb;
}

void mark_quantization(BindState& state) {
    ShapedGraph& graph = state.graph;
    if (std::ranges::none_of(graph.operators, is_dequantize))
        return;
    QuantizedForms forms(graph);
    const auto producers = producers_of(graph);
    std::vector<std::uint32_t> readers(graph.tensors.size(), 0), quantizers(graph.tensors.size(), 0);
    for (const Operator& op : graph.operators)
        for (const TensorId id : op.inputs)
            if (id != kNoTensor) {
                ++readers[id];
                quantizers[id] += is_quantize(op);
            }
    for (const TensorId id : graph.outputs)
        if (id != kNoTensor)
            ++readers[id];
    const auto feeds_only_quantizers = [&](const Operator& op) {
        return std::ranges::all_of(op.outputs, [&](TensorId id) {
            return id == kNoTensor || (readers[id] > 0 && readers[id] == quantizers[id]);
        });
    };
    for (Operator& op : graph.operators) {
        forms.visit(op);
        if (op.folded || is_quantize(op) || is_dequantize(op) || moves_only(op) || op.inputs.empty())
            continue;
        const DataType first = forms.of(op.inputs[0]);
        if (multiplies(op) && op.inputs.size() > 1 && !op.native_precision)
            op.native_precision = common_precision(first, forms.of(op.inputs[1]));
        else if (!multiplies(op) && first != DataType::undefined && feeds_only_quantizers(op) &&
                 std::ranges::all_of(op.inputs, [&](TensorId id) {
                     return id == kNoTensor || forms.of(id) != DataType::undefined ||
                            graph.tensors[id].constant;
                 }))
            op.native_precision = precision_of(first);
    }
    for (Operator& op : graph.operators) {
        if (op.folded || !is_quantize(op) || op.inputs.empty() || op.inputs[0] == kNoTensor)
            continue;
        const std::uint32_t maker = producers[op.inputs[0]];
        const bool follows = maker != kNone && (graph.operators[maker].native_precision.has_value() ||
                                                forms.of(op.inputs[0]) != DataType::undefined);
        if (!follows)
            continue;
        // The quantised kernel writes its result in the quantised type.
        op.work = OperatorWork{};
        op.work.fusion = FusionClass::transparent;
        if (readers[op.inputs[0]] == quantizers[op.inputs[0]] && !op.outputs.empty() &&
            op.outputs[0] != kNoTensor)
            graph.tensors[op.inputs[0]].storage_bits = graph.tensors[op.outputs[0]].stored_bits();
    }
    std::vector<bool> read_as_float(graph.tensors.size(), false);
    for (std::size_t i = graph.operators.size(); i-- > 0;) {
        const Operator& op = graph.operators[i];
        const bool passes_on =
            moves_only(op) && !op.folded && std::ranges::none_of(op.outputs, [&](TensorId id) {
                return id != kNoTensor && read_as_float[id];
            });
        if (op.native_precision || passes_on || is_quantize(op))
            continue;
        mark(read_as_float, op.inputs);
    }
    mark(read_as_float, graph.outputs);
    for (Operator& op : graph.operators) {
        if (op.folded || !is_dequantize(op) || op.outputs.empty() || op.outputs[0] == kNoTensor)
            continue;
        if (!read_as_float[op.outputs[0]]) {
            op.work = OperatorWork{};
            op.work.fusion = FusionClass::transparent;
        } else {
            graph.tensors[op.outputs[0]].storage_bits = 0; // a real conversion: the floating form is written
        }
    }
}

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
