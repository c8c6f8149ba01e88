#pragma once
// Matrix products for the plain, quantised and fused operators.

#include "ops/common.hpp"

namespace archsim {

struct MatMulOperand {
    Shape shape;
    bool transposed = false; ///< the last two axes change places
};

/// Output shape of numpy.matmul.
Shape matmul_shape(const MatMulOperand& a, const MatMulOperand& b);
/// The product as contractions: a constant operand is the weight, and batch axes that it lacks join the rows.
Contraction matmul_contraction(const MatMulOperand& a, const MatMulOperand& b, bool a_constant,
                               bool b_constant);
/// Fills macs and contractions for inputs `a` and `b`.
void matmul_work(NodeContext& c, std::size_t a, std::size_t b, bool transpose_a = false,
                 bool transpose_b = false);

} // namespace archsim
