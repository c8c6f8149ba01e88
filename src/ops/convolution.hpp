#pragma once
// Convolution for the plain, quantised and fused operators.

#include "ops/window.hpp"

namespace archsim {

/// Where a convolution-like operator has its inputs.
struct ConvolutionInputs {
    std::size_t data = 0, weights = 1, bias = 2;
    bool channels_last = false;
};

/// Output shape [N, M, spatial...] (or channels last); weights are [M, C/group, spatial...].
Shape convolution_shape(const NodeContext& c, const ConvolutionInputs& at);
/// Fills window, contraction and the bias additions, for the output shape already inferred.
void convolution_work(NodeContext& c, const ConvolutionInputs& at);

} // namespace archsim
