#include "family/dpu_cycles.hpp"

#include <cmath>

namespace archsim::dpu {

double convolution_cycles(const Window& w, const Parallelism& p) {
    const double inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
    const auto& pixels = w.transposed ? w.in : w.out; // a transposed convolution meets every input pixel once
    const double lines = pixels[0] * pixels[1] * std::ceil(pixels[2] / p.pixels);
    double steps = w.taps() * std::ceil(inputs / p.inputs);
    if (inputs < p.inputs / 2 && w.in_channels * w.kernel[2] <= 2 * p.inputs && !w.transposed)
        steps = w.kernel[0] * w.kernel[1] * std::ceil(inputs * w.kernel[2] / p.inputs);
    return lines * steps * std::ceil(outputs / p.outputs) * w.groups;
}

double product_cycles(const Contraction& c, double images, const Parallelism& p) {
    // Images share the rows of a product with weights; products of activations come per image.
    const double rows = c.weights_constant ? c.m / images : c.m;
    const double groups = c.weights_constant ? c.groups : c.groups / images;
    return groups * std::ceil(rows / p.pixels) * std::ceil(c.k / p.inputs) * std::ceil(c.n / p.outputs);
}

double window_cycles(const Window& w, const Parallelism& p) {
    const double channels = std::ceil(w.out_channels / p.outputs);
    if (w.out_pixels() == 1)
        return std::ceil(w.taps() / p.alu_pixels) * channels;
    return w.out[0] * w.out[1] * std::ceil(w.out[2] / p.alu_pixels) * channels * w.taps();
}

double element_cycles(double elements, const Parallelism& p) {
    return std::ceil(elements / (p.alu_pixels * p.outputs));
}

} // namespace archsim::dpu
