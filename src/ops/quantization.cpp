// Quantisation of tensors, and quantised operators of com.microsoft: QLinear*, block-quantised weights.
// Between quantised operators the former cost nothing; passes/quantization decides that.

#include "ops/families.hpp"

namespace archsim {

static void mark_scales(NodeContext& c) {
    mark_learned(c, {1, 2}, false);
}

/// The zero point's type, attribute output_dtype (opset 21), else uint8.
static void infer_quantize(NodeContext& c) {
    DataType type = data_type_attribute(c, "output_dtype", DataType::undefined);
    if (c.has_input(2))
        type = c.type(2);
    c.set_output(0, type == DataType::undefined ? DataType::uint8 : type, c.shape(0));
    mark_scales(c);
}

/// The scale's type unless output_dtype (opset 23) says otherwise.
static void infer_dequantize(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_dtype", c.type(1)), c.shape(0));
    mark_scales(c);
}

static void infer_dynamic_quantize(NodeContext& c) {
    c.set_output(0, DataType::uint8, c.shape(0));
    c.set_output(1, DataType::float32, {});
    c.set_output(2, DataType::uint8, {});
}

static void work_dynamic_quantize(NodeContext& c) {
    work_per_input(c);
    c.work().special_ops += 1;
    c.work().passes = 2;
}

// --- Elementwise: each operand is a tensor, a scale and a zero point

/// A, scale, zero point, B, scale, zero point, result scale and zero point.
static void infer_qlinear_binary(NodeContext& c) {
    c.set_output(0, c.type(0), broadcast(c.shape(0), c.shape(3)));
}

static void work_qlinear(NodeContext& c) {
    work_per_output(c);
    run_int8(c);
    for (std::size_t i = 1; i < c.input_count(); ++i)
        if (i != 3)
            c.mark_learned(i, false);
}

static void work_qlinear_softmax(NodeContext& c) {
    work_qlinear(c);
    c.work().passes = 3;
}

/// condition, X, scale, zero point, Y, scale, zero point, result scale and zero point.
static void infer_qlinear_where(NodeContext& c) {
    c.set_output(0, c.type(1), broadcast(broadcast(c.shape(0), c.shape(1)), c.shape(4)));
}

/// result scale, result zero point, then tensor, scale, zero point for each operand.
static void infer_qlinear_concat(NodeContext& c) {
    if (c.input_count() < 5)
        malformed("at least one operand with scale and zero point is needed");
    Shape out = c.shape(2);
    const std::size_t axis = normalized_axis(c.integer("axis", 1), out.size());
    for (std::size_t i = 5; i < c.input_count(); i += 3) {
        if (c.shape(i).size() != out.size())
            malformed("the inputs differ in rank");
        out[axis] += c.shape(i)[axis];
    }
    c.set_output(0, c.type(2), std::move(out));
}

static void infer_qlinear_reduce_mean(NodeContext& c) {
    const Shape& in = c.shape(0);
    const auto* given = c.integers("axes");
    std::vector<bool> reduced(in.size(), given == nullptr);
    if (given)
        for (const std::size_t axis : normalized_axes(*given, in.size()))
            reduced[axis] = true;
    c.set_output(0, c.type(0), reduced_shape(in, reduced, c.integer("keepdims", 1) != 0));
}

static void work_qlinear_reduce_mean(NodeContext& c) {
    c.work().vector_ops = c.elements(0) + 4 * c.output(0).elements();
    run_int8(c);
}

/// A, A zero point, B, B zero point.
static void infer_mul_integer(NodeContext& c) {
    c.set_output(0, DataType::int32, broadcast(c.shape(0), c.shape(2)));
}

// --- QGemm: A, scale, zero point, B, scale, zero point, C, result scale, result zero point

static void infer_qgemm(NodeContext& c) {
    const DataType type = c.has_input(8) ? c.type(8) : c.has_input(7) ? c.type(0) : c.type(1);
    c.set_output(
        0, type,
        matmul_shape({c.shape(0), c.integer("transA", 0) != 0}, {c.shape(3), c.integer("transB", 0) != 0}));
}

static void work_qgemm(NodeContext& c) {
    matmul_work(c, 0, 3, c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
    c.work().vector_ops += c.output(0).elements() * (c.has_input(6) ? 5 : 4);
    run_int8(c, {1u, 2u, 4u, 5u, 7u, 8u});
    c.mark_learned(6);
}

// --- Block-quantised weights

/// Output columns and inner size of a product with packed weights, as attributes give them.
struct PackedProduct {
    std::int64_t inner = 0, columns = 0;
};

static PackedProduct packed_product(const NodeContext& c) {
    const PackedProduct p{c.integer("K", 0), c.integer("N", 0)};
    if (p.inner < 1 || p.columns < 1)
        malformed("attributes K and N must be positive");
    if (c.node().op_type == "MatMulBnb4" && c.integer("transB", 1) == 0)
        return {p.columns, p.inner};
    return p;
}

static void infer_packed_matmul(NodeContext& c) {
    const PackedProduct p = packed_product(c);
    Shape out = c.shape(0);
    if (out.empty() || out.back() != p.inner)
        throw NodeProblem{FindingKind::shape_conflict, "the input's last axis is not K", "check the inputs"};
    out.back() = p.columns;
    c.set_output(0, c.type(0), std::move(out));
}

/// The kernel expands each weight once (subtract, scale) and multiplies in the type of A, or in int8 where
/// accuracy_level 4 allows it.
static void work_packed_matmul(NodeContext& c) {
    const PackedProduct p = packed_product(c);
    Contraction contraction;
    contraction.k = static_cast<double>(p.inner);
    contraction.n = static_cast<double>(p.columns);
    contraction.m = c.elements(0) / contraction.k;
    contraction.weights_constant = c.is_constant(1);
    add_product(c, contraction);
    c.work().vector_ops = 2 * contraction.k * contraction.n;
    if (c.integer("accuracy_level", 0) == 4)
        run_int8(c);
    c.mark_learned(1);
    if (c.elements(1) > 0)
        c.mark_packed(1, contraction.k * contraction.n / c.elements(1));
    for (std::size_t i = 2; i < std::min<std::size_t>(c.input_count(), 5); ++i)
        c.mark_learned(i, false);
    if (c.has_input(5)) {
        c.work().vector_ops += c.output(0).elements();
        c.mark_learned(5);
    }
}

/// data, indices, scales, zero points: rows of a block-quantised table.
static void infer_gather_blocks(NodeContext& c) {
    const std::size_t axis = normalized_axis(c.integer("gather_axis", 0), c.shape(0).size());
    Shape out = gathered_shape(c.shape(0), c.shape(1), axis);
    const std::int64_t bits = c.integer("bits", 4);
    if (c.type(0) == DataType::uint8 && bits > 0 && bits < 8 && !out.empty())
        out.back() *= 8 / bits;
    c.set_output(0, c.type(2), std::move(out));
}

static void work_gather_blocks(NodeContext& c) {
    const double n = c.output(0).elements();
    const std::int64_t bits = c.integer("bits", 4);
    const double packing = c.type(0) == DataType::uint8 && bits > 0 ? 8.0 / static_cast<double>(bits) : 1;
    c.work().vector_ops = 2 * n;
    const double part = c.elements(0) > 0 ? std::min(1.0, n / packing / c.elements(0)) : 1;
    c.work().partial_reads = {{std::uint16_t{0}, part * c.elements(0)},
                              {std::uint16_t{2}, part * c.elements(2)}};
    if (c.has_input(3))
        read_part(c, 3, part * c.elements(3));
    c.mark_learned(0);
    c.mark_packed(0, packing);
    mark_learned(c, {2, 3}, false);
}

constexpr OperatorRow kQuantizedRows[] = {
    kOnnx.elementwise("QuantizeLinear", 10, infer_quantize, work_per_output, {4, 0},
                      "scale, round, add the zero point, clip; free after an operator that runs quantised"),
    kOnnx.elementwise("DequantizeLinear", 10, infer_dequantize, work_per_output, {2, 0},
                      "subtract the zero point and scale; free before an operator that runs quantised"),
    kOnnx.reduction("DynamicQuantizeLinear", 11, infer_dynamic_quantize, work_dynamic_quantize, {6, 0},
                    "finds minimum and maximum, then scales, rounds and clips: 6 operations per element"),
    kMicrosoft.elementwise("QLinearAdd", 1, infer_qlinear_binary, work_qlinear, {7, 0},
                           "8-bit sum: rescaling both operands and the result"),
    kMicrosoft.elementwise("QLinearMul", 1, infer_qlinear_binary, work_qlinear, {6, 0},
                           "8-bit product: removing zero points and rescaling"),
    kMicrosoft.elementwise("QLinearLeakyRelu", 1, infer_same, work_qlinear, {1, 0}, "8-bit table lookup"),
    kMicrosoft.elementwise("QLinearSigmoid", 1, infer_same, work_qlinear, {1, 0}, "8-bit table lookup"),
    kMicrosoft.softmax("QLinearSoftmax", 1, infer_same, work_qlinear_softmax, {5, 1},
                       "softmax of 8-bit values"),
    kMicrosoft.elementwise("QLinearWhere", 1, infer_qlinear_where, work_qlinear, {5, 0},
                           "8-bit selection with rescaling"),
    kMicrosoft.movement("QLinearConcat", 1, infer_qlinear_concat, work_qlinear, {4, 0},
                        "joins 8-bit tensors, rescaling each"),
    kMicrosoft.reduction("QLinearReduceMean", 1, infer_qlinear_reduce_mean, work_qlinear_reduce_mean,
                         "8-bit mean over axes"),
    kMicrosoft.elementwise("MulInteger", 1, infer_mul_integer, work_per_output, {3, 0},
                           "8-bit product with 32-bit results"),
    kMicrosoft.product("QGemm", 1, infer_qgemm, work_qgemm, "8-bit Gemm"),
    kMicrosoft.product(
        "MatMulNBits", 1, infer_packed_matmul, work_packed_matmul,
        "product with block-quantised weights of 2 to 8 bits; expanding a weight takes 2 operations"),
    kMicrosoft.product("MatMulBnb4", 1, infer_packed_matmul, work_packed_matmul,
                       "product with 4-bit floating (FP4, NF4) weights"),
    kMicrosoft.movement("GatherBlockQuantized", 1, infer_gather_blocks, work_gather_blocks,
                        "rows of a block-quantised table; reads only those rows"),
};

constinit const std::span<const OperatorRow> quantization_rows = kQuantizedRows;

} // namespace archsim
