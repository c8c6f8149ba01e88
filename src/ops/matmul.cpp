// Matrix products without a window: MatMul, Gemm and their quantised forms.

#include "ops/common.hpp"

#include "ops/families.hpp"

#include <algorithm>

namespace archsim {

namespace {

/// Batch axes, rows and columns of an operand; vectors are rows (left) or columns (right).
struct MatrixView {
    Shape batch;
    std::int64_t rows = 1, columns = 1;
    bool vector = false;
};

MatrixView view_of(const MatMulOperand& operand, bool left) {
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

void infer_matmul(NodeContext& c) {
    c.set_output(0, c.type(0), matmul_shape({c.shape(0)}, {c.shape(1)}));
}

void work_matmul(NodeContext& c) {
    matmul_work(c, 0, 1);
}

void work_matmul_float(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.op().native_precision = Precision::fp32;
}

void infer_gemm(NodeContext& c) {
    const bool ta = c.integer("transA", 0) != 0, tb = c.integer("transB", 0) != 0;
    if (c.rank(0) != 2 || c.rank(1) != 2)
        malformed("Gemm needs two matrices");
    c.set_output(0, c.type(0), matmul_shape({c.shape(0), ta}, {c.shape(1), tb}));
}

void work_gemm(NodeContext& c) {
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

void infer_matmul_integer(NodeContext& c) {
    c.set_output(0, DataType::int32, matmul_shape({c.shape(0)}, {c.shape(1)}));
}

void work_matmul_integer(NodeContext& c) {
    matmul_work(c, 0, 1);
    run_int8(c, {2, 3});
}

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void infer_qlinear_matmul(NodeContext& c) {
    c.set_output(0, c.has_input(7) ? c.type(7) : c.type(0), matmul_shape({c.shape(0)}, {c.shape(3)}));
}

void work_qlinear_matmul(NodeContext& c) {
    matmul_work(c, 0, 3);
    c.work().vector_ops += 4 * c.output(0).elements();
    run_int8(c, {1u, 2u, 4u, 5u, 6u, 7u});
}

/// Output has the type of the scales; A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias.
void infer_matmul_integer_to_float(NodeContext& c) {
    c.set_output(0, c.type(2), matmul_shape({c.shape(0)}, {c.shape(1)}));
}

void work_matmul_integer_to_float(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.work().vector_ops += (c.has_input(6) ? 3 : 2) * c.output(0).elements();
    run_int8(c, {2u, 3u, 4u, 5u});
}

/// A (float), B (8 bit), b_scale, b_zero_point, bias: A is quantised on the fly.
void work_dynamic_quantize_matmul(NodeContext& c) {
    matmul_work(c, 0, 1);
    // Minimum and maximum, then scale, round, shift and clip of every element of A.
    c.work().vector_ops += 6 * c.elements(0) + (c.has_input(4) ? 3 : 2) * c.output(0).elements();
    run_int8(c, {2, 3});
}

// --- FusedMatMul and its kin: transA, transB, transBatchA, transBatchB

MatMulOperand fused_operand(const NodeContext& c, std::size_t i, std::string_view trans,
                            std::string_view batch) {
    MatMulOperand operand{c.shape(i), c.integer(trans, 0) != 0};
    // transBatch moves the leading axis to just before the last one.
    if (c.integer(batch, 0) != 0 && operand.shape.size() > 2)
        std::rotate(operand.shape.begin(), operand.shape.begin() + 1, operand.shape.end() - 1);
    if (operand.shape.size() < 2)
        operand.transposed = false;
    return operand;
}

void infer_fused_matmul(NodeContext& c) {
    c.set_output(0, c.type(0),
                 matmul_shape(fused_operand(c, 0, "transA", "transBatchA"),
                              fused_operand(c, 1, "transB", "transBatchB")));
}

void work_fused_matmul(NodeContext& c) {
    add_product(c, matmul_contraction(fused_operand(c, 0, "transA", "transBatchA"),
                                      fused_operand(c, 1, "transB", "transBatchB"), c.is_constant(0),
                                      c.is_constant(1)));
    if (c.real("alpha", 1.0) != 1.0)
        c.work().vector_ops = c.output(0).elements();
}

void work_fused_matmul_activation(NodeContext& c) {
    work_fused_matmul(c);
    c.work().vector_ops += 2 * c.output(0).elements();
}

void work_fused_gemm(NodeContext& c) {
    work_gemm(c);
    c.work().vector_ops += c.output(0).elements();
}

// --- TransposeMatMul is FusedMatMul's older name; GemmFastGelu multiplies and applies the activation.

void work_gemm_fast_gelu(NodeContext& c) {
    matmul_work(c, 0, 1);
    c.work().vector_ops += 8 * c.output(0).elements();
    c.work().special_ops += c.output(0).elements();
}

// --- GemmFloat8: A, B, C, scaleA, scaleB, scaleY

void infer_gemm_float8(NodeContext& c) {
    infer_gemm(c);
    c.output(0).type = data_type_attribute(c, "dtype", DataType::float32);
}

void work_gemm_float8(NodeContext& c) {
    work_gemm(c);
    c.op().native_precision = Precision::fp8;
}

/// Determinant by LU decomposition: n^3/3 multiply-subtracts and n^2/2 divisions per matrix.
void infer_det(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.size() < 2 || out[out.size() - 1] != out[out.size() - 2])
        malformed("the determinant needs square matrices");
    out.resize(out.size() - 2);
    c.set_output(0, c.type(0), std::move(out));
}

void work_det(NodeContext& c) {
    const auto n = static_cast<double>(c.dim(0, -1));
    c.work().vector_ops = c.output(0).elements() * 2 * n * n * n / 3;
    c.work().special_ops = c.output(0).elements() * n * n / 2;
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
};

} // namespace

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
