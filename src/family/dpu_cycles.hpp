#pragma once
// Cycle loops of a convolution engine with pixel, input-channel and output-channel parallelism (AMD
// DPUCZDX8G, product guide PG338). Per image. Private to the DPU mapper.

#include "archsim/ops/shaped_graph.hpp"

namespace archsim::dpu {

struct Parallelism {
    double pixels = 8, inputs = 16, outputs = 16; ///< of the convolution engine: PP, ICP, OCP
    double alu_pixels = 4;                        ///< of the narrow engine beside it
};

/// ceil(W/PP) H kh kw ceil(Cin/ICP) ceil(Cout/OCP), channels per group, times groups. A first layer with few
/// input channels packs a row of taps into the input-channel axis (channel augmentation, PG338): kh ceil(Cin
/// kw/ICP). Worked: 56 x 56, 64 -> 64, 3 x 3 on 8 x 16 x 16: 7 x 56 x 9 x 4 x 4 = 56448.
double convolution_cycles(const Window& window, const Parallelism& p);
/// ceil(M/PP) ceil(K/ICP) ceil(N/OCP), times groups.
double product_cycles(const Contraction& c, double images, const Parallelism& p);
/// Depthwise convolution and pooling on the narrow engine: ceil(W/A) H ceil(C/OCP) kh kw; global pooling
/// walks its input once: ceil(H W/A) ceil(C/OCP).
double window_cycles(const Window& window, const Parallelism& p);
/// One pass over `elements` on the narrow engine.
double element_cycles(double elements, const Parallelism& p);

} // namespace archsim::dpu
