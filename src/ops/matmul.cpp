// Matrix products without a window: MatMul, Gemm and their quantised forms, Einsum.

#include "ops/families.hpp"

namespace archsim {

/// Batch axes, rows and columns of an operand; vectors are rows (left) or columns (right).
struct MatrixView {
    Shape batch;
    std::int64_t rows = 1, columns = 1;
    bool vector = false;
};

static MatrixView view_of(const MatMulOperand& operand, bool left) {
    MatrixView v;
    const Shape& s = operand.shape;
    if (s.empty())
        malformed("a matrix product needs at least one axis");
    if (s.size() == 1) {
        v.vector = true;
        (left ? v.columns : v.rows) = s[0];
        return v;
    }
    v.batch.assign(s.begin(), s.end() - 2);
    v.rows = s[s.size() - 2];
    v.columns = s.back();
    if (operand.transposed)
        std::swap(v.rows, v.columns);
    return v;
}

static void infer_matmul(NodeContext& c) {
    c.set_output(0, c.type(0), matmul_shape({c.shape(0)}, {c.shape(1)}));
}

static void work_matmul(NodeContext& c) {
    matmul_work(c, 0, 1);
}

static void work_matmul_float(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.op().native_precision = Precision::fp32;
}

static void infer_gemm(NodeContext& c) {
    const bool ta = c.integer("transA", 0) != 0, tb = c.integer("transB", 0) != 0;
    if (c.rank(0) != 2 || c.rank(1) != 2)
        malformed("Gemm needs two matrices");
    c.set_output(0, c.type(0), matmul_shape({c.shape(0), ta}, {c.shape(1), tb}));
}

static void work_gemm(NodeContext& c) {
    matmul_work(c, 0, 1, c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
    const double n = c.output(0).elements();
    if (c.has_input(2) && c.real("beta", 1.0) != 0.0) {
        c.work().vector_ops += n * (c.real("beta", 1.0) == 1.0 ? 1 : 2);
        c.mark_learned(2);
    }
    if (c.real("alpha", 1.0) != 1.0)
        c.work().vector_ops += n;
}

// --- Quantised products

static void infer_matmul_integer(NodeContext& c) {
    c.set_output(0, DataType::int32, matmul_shape({c.shape(0)}, {c.shape(1)}));
}

static void work_matmul_integer(NodeContext& c) {
    matmul_work(c, 0, 1);
    run_int8(c, {2, 3});
}

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
static void infer_qlinear_matmul(NodeContext& c) {
    c.set_output(0, c.has_input(7) ? c.type(7) : c.type(0), matmul_shape({c.shape(0)}, {c.shape(3)}));
}

static void work_qlinear_matmul(NodeContext& c) {
    matmul_work(c, 0, 3);
    c.work().vector_ops += 4 * c.output(0).elements();
    run_int8(c, {1u, 2u, 4u, 5u, 6u, 7u});
}

/// Output has the type of the scales; A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias.
static void infer_matmul_integer_to_float(NodeContext& c) {
    c.set_output(0, c.type(2), matmul_shape({c.shape(0)}, {c.shape(1)}));
}

static void work_matmul_integer_to_float(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.work().vector_ops += (c.has_input(6) ? 3 : 2) * c.output(0).elements();
    run_int8(c, {2u, 3u, 4u, 5u});
}

/// A (float), B (8 bit), b_scale, b_zero_point, bias: A is quantised on the fly.
static void work_dynamic_quantize_matmul(NodeContext& c) {
    matmul_work(c, 0, 1);
    // Minimum and maximum, then scale, round, shift and clip of every element of A.
    c.work().vector_ops += 6 * c.elements(0) + (c.has_input(4) ? 3 : 2) * c.output(0).elements();
    run_int8(c, {2, 3});
}

// --- FusedMatMul and its kin: transA, transB, transBatchA, transBatchB

static MatMulOperand fused_operand(const NodeContext& c, std::size_t i, std::string_view trans,
                                   std::string_view batch) {
    MatMulOperand operand{c.shape(i), c.integer(trans, 0) != 0};
    // transBatch moves the leading axis to just before the last one.
    if (c.integer(batch, 0) != 0 && operand.shape.size() > 2)
        std::rotate(operand.shape.begin(), operand.shape.begin() + 1, operand.shape.end() - 1);
    if (operand.shape.size() < 2)
        operand.transposed = false;
    return operand;
}

static void infer_fused_matmul(NodeContext& c) {
    c.set_output(0, c.type(0),
                 matmul_shape(fused_operand(c, 0, "transA", "transBatchA"),
                              fused_operand(c, 1, "transB", "transBatchB")));
}

static void work_fused_matmul(NodeContext& c) {
    add_product(c, matmul_contraction(fused_operand(c, 0, "transA", "transBatchA"),
                                      fused_operand(c, 1, "transB", "transBatchB"), c.is_constant(0),
                                      c.is_constant(1)));
    if (c.real("alpha", 1.0) != 1.0)
        c.work().vector_ops = c.output(0).elements();
}

static void work_fused_matmul_activation(NodeContext& c) {
    work_fused_matmul(c);
    c.work().vector_ops += 2 * c.output(0).elements();
}

static void work_fused_gemm(NodeContext& c) {
    work_gemm(c);
    c.work().vector_ops += c.output(0).elements();
}

// --- TransposeMatMul is FusedMatMul's older name; GemmFastGelu multiplies and applies the activation.

static void work_gemm_fast_gelu(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.work().vector_ops += 8 * c.output(0).elements();
    c.work().special_ops += c.output(0).elements();
}

// --- GemmFloat8: A, B, C, scaleA, scaleB, scaleY

static void infer_gemm_float8(NodeContext& c) {
    infer_gemm(c);
    c.output(0).type = data_type_attribute(c, "dtype", DataType::float32);
}

static void work_gemm_float8(NodeContext& c) {
    work_gemm(c);
    c.op().native_precision = Precision::fp8;
}

/// Determinant by LU decomposition: n^3/3 multiply-subtracts and n^2/2 divisions per matrix.
static void infer_det(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.size() < 2 || out[out.size() - 1] != out[out.size() - 2])
        malformed("the determinant needs square matrices");
    out.resize(out.size() - 2);
    c.set_output(0, c.type(0), std::move(out));
}

static void work_det(NodeContext& c) {
    const auto n = extent(c, 0, -1);
    c.work().vector_ops = c.output(0).elements() * 2 * n * n * n / 3;
    c.work().special_ops = c.output(0).elements() * n * n / 2;
}

// Einsum: the equation is parsed into axes; the work is that of contracting the operands pairwise, left to
// right.

/// Axes are single characters; broadcast axes under an ellipsis get the digits '0'..'9' counted from the
/// right.
struct Equation {
    std::vector<std::string> operands;
    std::string output;
};

static std::string expand_ellipsis(const std::string& term, std::size_t rank) {
    const std::size_t dots = term.find("...");
    if (dots == std::string::npos)
        return term;
    const std::size_t named = term.size() - 3;
    if (rank < named || rank - named > 10)
        malformed("the equation does not fit the rank of an operand");
    std::string axes;
    for (std::size_t i = rank - named; i-- > 0;)
        axes += static_cast<char>('0' + i);
    return term.substr(0, dots) + axes + term.substr(dots + 3);
}

static Equation parse(const NodeContext& c) {
    std::string text;
    for (const char ch : c.text("equation", ""))
        if (ch != ' ')
            text += ch;
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Equation e;
    std::size_t start = 0;
    for (std::size_t i = 0; i < c.input_count(); ++i) {
        const std::size_t comma = left.find(',', start);
        e.operands.push_back(expand_ellipsis(
            left.substr(start, comma == std::string::npos ? comma : comma - start), c.shape(i).size()));
        if (comma == std::string::npos && i + 1 < c.input_count())
            malformed("the equation has fewer terms than the node has inputs");
        start = comma == std::string::npos ? left.size() : comma + 1;
    }
    std::string ellipsis_axes;
    for (const std::string& term : e.operands) {
        std::string digits;
        for (const char ch : term)
            if (ch >= '0' && ch <= '9')
                digits += ch;
        if (digits.size() > ellipsis_axes.size())
            ellipsis_axes = digits;
    }
    if (arrow != std::string::npos) {
        e.output = text.substr(arrow + 2);
        if (const std::size_t dots = e.output.find("..."); dots != std::string::npos)
            e.output = e.output.substr(0, dots) + ellipsis_axes + e.output.substr(dots + 3);
        return e;
    }
    // Without an arrow: the axes that occur once, in alphabetical order, after those of the ellipsis.
    std::array<int, 256> count{};
    for (const std::string& term : e.operands)
        for (const char ch : term)
            ++count[static_cast<unsigned char>(ch)];
    e.output = ellipsis_axes;
    for (int ch = 'A'; ch <= 'z'; ++ch)
        if (count[static_cast<std::size_t>(ch)] == 1)
            e.output += static_cast<char>(ch);
    return e;
}

using AxisSizes = std::array<std::int64_t, 256>;

static AxisSizes sizes_of(const NodeContext& c, const Equation& e) {
    AxisSizes sizes;
    sizes.fill(-1);
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        const Shape& shape = c.shape(i);
        if (shape.size() != e.operands[i].size())
            malformed("the equation does not fit the rank of an operand");
        for (std::size_t d = 0; d < shape.size(); ++d) {
            std::int64_t& size = sizes[static_cast<unsigned char>(e.operands[i][d])];
            if (size < 0 || size == 1)
                size = shape[d];
            else if (shape[d] != 1 && shape[d] != size)
                sizes_differ("the operands differ in an axis of the equation");
        }
    }
    return sizes;
}

static void infer_einsum(NodeContext& c) {
    const Equation e = parse(c);
    const AxisSizes sizes = sizes_of(c, e);
    Shape out;
    for (const char axis : e.output) {
        const std::int64_t size = sizes[static_cast<unsigned char>(axis)];
        if (size < 0)
            malformed("the equation's result names an axis that no operand has");
        out.push_back(size);
    }
    c.set_output(0, c.type(0), std::move(out));
}

static bool has(const std::string& axes, char axis) {
    return axes.find(axis) != std::string::npos;
}

/// One pairwise step: axes of both that stay are groups, axes of both that vanish are contracted.
static Contraction step(const std::string& a, const std::string& b, const std::string& kept,
                        const AxisSizes& sizes) {
    Contraction result;
    std::string seen;
    for (const char axis : a + b) {
        if (has(seen, axis))
            continue;
        seen += axis;
        const auto size = static_cast<double>(sizes[static_cast<unsigned char>(axis)]);
        const bool in_a = has(a, axis), in_b = has(b, axis), stays = has(kept, axis);
        if (in_a && in_b)
            (stays ? result.groups : result.k) *= size;
        else
            (in_a ? result.m : result.n) *= size;
    }
    return result;
}

static void work_einsum(NodeContext& c) {
    const Equation e = parse(c);
    const AxisSizes sizes = sizes_of(c, e);
    if (e.operands.size() == 1) {
        const bool reduces = c.output(0).elements() < c.elements(0);
        c.work().kind = reduces ? OpKind::reduction : OpKind::data_movement;
        c.work().fusion = reduces ? FusionClass::reduction : FusionClass::injective;
        c.work().vector_ops = reduces ? c.elements(0) : 0;
        return;
    }
    std::string left = e.operands[0];
    bool left_constant = c.is_constant(0);
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        std::string kept = e.output;
        for (std::size_t later = i + 1; later < e.operands.size(); ++later)
            kept += e.operands[later];
        Contraction product_of_two = step(left, e.operands[i], kept, sizes);
        product_of_two.weights_constant = left_constant || c.is_constant(i);
        if (left_constant && !c.is_constant(i))
            std::swap(product_of_two.m, product_of_two.n);
        left_constant = left_constant && c.is_constant(i);
        // Without a contracted axis the step is an elementwise or outer product.
        if (product_of_two.k == 1)
            c.work().vector_ops += product_of_two.macs();
        else
            c.work().contractions.push_back(product_of_two);
        c.work().macs += product_of_two.k == 1 ? 0 : product_of_two.macs();
        std::string next;
        for (const char axis : left + e.operands[i])
            if (has(kept, axis) && !has(next, axis))
                next += axis;
        left = next;
    }
    if (c.work().contractions.empty()) {
        c.work().kind = OpKind::elementwise;
        c.work().fusion = FusionClass::elementwise;
    }
    mark_learned_from(c, 0, true);
}

constexpr OperatorRow kMatmulRows[] = {
    kOnnx.product("MatMul", 1, infer_matmul, work_matmul,
                  "matrix product over the last two axes, broadcasting the rest"),
    kOnnx.product("Gemm", 1, infer_gemm, work_gemm, "alpha A B + beta C"),
    RowKinds{kArchsimDomain}.product(
        "MatMulFloat", 1, infer_matmul, work_matmul_float,
        "matrix product in fp32, whatever others are computed in: the scores of some routers"),
    kOnnx.product("MatMulInteger", 10, infer_matmul_integer, work_matmul_integer,
                  "8-bit matrix product with 32-bit results"),
    kOnnx.product("QLinearMatMul", 10, infer_qlinear_matmul, work_qlinear_matmul,
                  "8-bit matrix product with 8-bit results: requantisation is 4 operations per output"),
    kMicrosoft.product("MatMulIntegerToFloat", 1, infer_matmul_integer_to_float, work_matmul_integer_to_float,
                       "8-bit matrix product scaled to a floating result"),
    kMicrosoft.product("DynamicQuantizeMatMul", 1, infer_matmul, work_dynamic_quantize_matmul,
                       "quantises A on the fly (6 operations per element), 8-bit product"),
    kMicrosoft.product("MatMulInteger16", 1, infer_matmul_integer, work_matmul,
                       "16-bit matrix product with 32-bit results"),
    kMicrosoft.product("FusedMatMul", 1, infer_fused_matmul, work_fused_matmul,
                       "alpha A B with transposed operands"),
    kMicrosoft.product("TransposeMatMul", 1, infer_fused_matmul, work_fused_matmul,
                       "older name of FusedMatMul"),
    kMicrosoft.product("FusedMatMulActivation", 1, infer_fused_matmul, work_fused_matmul_activation,
                       "FusedMatMul and an activation"),
    kMicrosoft.product("FusedGemm", 1, infer_gemm, work_fused_gemm, "Gemm and an activation"),
    kMicrosoft.product("GemmFastGelu", 1, infer_matmul, work_gemm_fast_gelu,
                       "matrix product, bias and the tanh form of gelu"),
    kMicrosoft.product("GemmFloat8", 1, infer_gemm_float8, work_gemm_float8, "Gemm on 8-bit floating values"),
    kOnnx.opaque_reduction("Det", 11, infer_det, work_det,
                           "determinant by LU decomposition: 2/3 n^3 operations"),
    kOnnx.product(
        "Einsum", 12, infer_einsum, work_einsum,
        "contraction by an equation, pairwise from the left; without a contracted axis an elementwise "
        "product"),
};

constinit const std::span<const OperatorRow> matmul_rows = kMatmulRows;

Shape matmul_shape(const MatMulOperand& left, const MatMulOperand& right) {
    const MatrixView a = view_of(left, true), b = view_of(right, false);
    if (a.columns != b.rows)
        sizes_differ("the inner dimensions " + std::to_string(a.columns) + " and " + std::to_string(b.rows) +
                     " differ");
    Shape out = broadcast(a.batch, b.batch);
    if (!a.vector)
        out.push_back(a.rows);
    if (!b.vector)
        out.push_back(b.columns);
    return out;
}

Contraction matmul_contraction(const MatMulOperand& left, const MatMulOperand& right, bool a_constant,
                               bool b_constant) {
    const MatrixView a = view_of(left, true), b = view_of(right, false);
    const double batch = product(broadcast(a.batch, b.batch));
    Contraction result{.m = static_cast<double>(a.rows),
                       .n = static_cast<double>(b.columns),
                       .k = static_cast<double>(a.columns),
                       .weights_constant = b_constant || a_constant};
    const bool a_single = product(a.batch) == 1, b_single = product(b.batch) == 1;
    if (a_constant && !b_constant) {
        // The constant operand is the weight: (A B)' = B' A'.
        std::swap(result.m, result.n);
        if (a_single)
            result.m *= batch;
        else
            result.groups = batch;
    } else if (b_single) {
        result.m *= batch;
    } else {
        result.groups = batch;
    }
    return result;
}

void matmul_work(NodeContext& c, std::size_t a, std::size_t b, bool transpose_a, bool transpose_b) {
    add_product(c, matmul_contraction({c.shape(a), transpose_a}, {c.shape(b), transpose_b}, c.is_constant(a),
                                      c.is_constant(b)));
    mark_learned(c, {a, b});
}

} // namespace archsim
