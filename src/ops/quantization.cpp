// Quantisation of tensors. Between quantised operators these cost nothing; passes/quantization decides that.

#include "ops/common.hpp"
#include "ops/families.hpp"

namespace archsim {

namespace {

void mark_scales(NodeContext& c) {
    mark_learned(c, {1, 2}, false);
}

/// The zero point's type, attribute output_dtype (opset 21), else uint8.
void infer_quantize(NodeContext& c) {
    DataType type = data_type_attribute(c, "output_dtype", DataType::undefined);
    if (c.has_input(2))
        type = c.type(2);
    c.set_output(0, type == DataType::undefined ? DataType::uint8 : type, c.shape(0));
    mark_scales(c);
}

/// The scale's type unless output_dtype (opset 23) says otherwise.
void infer_dequantize(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_dtype", c.type(1)), c.shape(0));
    mark_scales(c);
}

void infer_dynamic_quantize(NodeContext& c) {
    c.set_output(0, DataType::uint8, c.shape(0));
    c.set_output(1, DataType::float32, {});
    c.set_output(2, DataType::uint8, {});
}

void work_dynamic_quantize(NodeContext& c) {
    work_per_input(c);
    c.work().special_ops += 1;
    c.work().passes = 2;
}

constexpr OperatorRow kQuantize =
    row("QuantizeLinear", kOnnxDomain, 10, infer_quantize, work_per_output, nullptr, OpKind::elementwise,
        FusionClass::elementwise, {4, 0},
        "scale, round, add the zero point, clip; free after an operator that runs quantised");
constexpr OperatorRow kDequantize =
    row("DequantizeLinear", kOnnxDomain, 10, infer_dequantize, work_per_output, nullptr, OpKind::elementwise,
        FusionClass::elementwise, {2, 0},
        "subtract the zero point and scale; free before an operator that runs quantised");
constexpr OperatorRow kQuantizationRows[] = {
    kQuantize,
    of_microsoft(kQuantize),
    kDequantize,
    of_microsoft(kDequantize),
    row("DynamicQuantizeLinear", kOnnxDomain, 11, infer_dynamic_quantize, work_dynamic_quantize, nullptr,
        OpKind::reduction, FusionClass::reduction, {6, 0},
        "finds minimum and maximum, then scales, rounds and clips: 6 operations per element"),
};

} // namespace

std::span<const OperatorRow> quantization_rows() {
    return kQuantizationRows;
}

} // namespace archsim
