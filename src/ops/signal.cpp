// Fourier transforms. A fast transform of n complex points takes 5 n log2 n real operations (Cooley and Tukey
// 1965).

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

double transform_operations(double points) {
    return 5 * points * std::log2(std::max(points, 2.0));
}

/// The axis is an attribute before opset 20 and an input after; the default is the last but one.
std::size_t transform_axis(const NodeContext& c) {
    const std::size_t rank = c.shape(0).size();
    if (rank < 2)
        malformed("the transform needs a signal axis and one of real and imaginary parts");
    std::int64_t axis = c.opset() >= 20 ? -2 : c.integer("axis", 1);
    if (c.has_input(2))
        axis = c.scalar_int(2);
    return normalized_axis(axis, rank);
}

void infer_dft(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = transform_axis(c);
    const bool onesided = c.integer("onesided", 0) != 0, inverse = c.integer("inverse", 0) != 0;
    if (c.has_input(1))
        out[axis] = c.scalar_int(1);
    else if (onesided && inverse)
        out[axis] = 2 * (out[axis] - 1); // the half spectrum of a real signal (opset 26)
    out.back() = onesided && inverse ? 1 : 2;
    if (onesided && !inverse)
        out[axis] = out[axis] / 2 + 1;
    c.set_output(0, c.type(0), std::move(out));
}

void work_dft(NodeContext& c) {
    const std::size_t axis = transform_axis(c);
    const auto in = static_cast<double>(c.shape(0)[axis]);
    const double points = c.has_input(1) && c.value(1) ? static_cast<double>(c.scalar_int(1)) : in;
    const double others = in > 0 ? c.elements(0) / in / static_cast<double>(c.shape(0).back()) : 0;
    // A real or half spectrum needs half the work.
    const bool half = c.integer("onesided", 0) != 0 || c.shape(0).back() == 1;
    c.work().vector_ops = others * transform_operations(points) / (half ? 2 : 1);
}

struct Frames {
    std::int64_t length = 0, count = 0;
};

/// signal [batch, samples, 1 or 2], frame step, window, frame length.
Frames frames_of(const NodeContext& c) {
    Frames f;
    const std::int64_t step = c.scalar_int(1);
    f.length = c.has_input(3) ? c.scalar_int(3) : c.dim(2, 0);
    if (step < 1 || f.length < 1 || f.length > c.dim(0, 1))
        malformed("frame step and frame length must be positive and fit the signal");
    f.count = (c.dim(0, 1) - f.length) / step + 1;
    return f;
}

void infer_stft(NodeContext& c) {
    const Frames f = frames_of(c);
    const bool onesided = c.integer("onesided", 1) != 0;
    c.set_output(0, c.type(0), {c.dim(0, 0), f.count, onesided ? f.length / 2 + 1 : f.length, 2});
}

void work_stft(NodeContext& c) {
    const Frames f = frames_of(c);
    const double transforms = static_cast<double>(c.dim(0, 0)) * static_cast<double>(f.count);
    const auto length = static_cast<double>(f.length);
    const bool half = c.integer("onesided", 1) != 0;
    c.work().vector_ops =
        transforms * (transform_operations(length) / (half ? 2 : 1) + (c.has_input(2) ? length : 0));
}

/// com.microsoft: signal_ndim trailing axes, real and imaginary parts last in the spectrum.
void infer_rfft(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.empty())
        malformed("a signal axis is missing");
    out.back() = out.back() / 2 + 1;
    out.push_back(2);
    c.set_output(0, c.type(0), std::move(out));
}

void infer_irfft(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.size() < 2)
        malformed("a spectrum needs real and imaginary parts");
    out.pop_back();
    out.back() = 2 * (out.back() - 1);
    c.set_output(0, c.type(0), std::move(out));
}

void work_real_transform(NodeContext& c) {
    const double n = std::max(c.elements(0), c.output(0).elements());
    const Shape& signal = c.node().op_type == "Rfft" ? c.shape(0) : c.output(0).shape;
    const double points = signal.empty() ? 1 : static_cast<double>(signal.back());
    c.work().vector_ops = points > 0 ? n / points * transform_operations(points) / 2 : 0;
}

constexpr OperatorRow kSignalRows[] = {
    kOnnx.opaque_reduction("DFT", 17, infer_dft, work_dft,
                           "Fourier transform: 5 n log2 n operations, half if real"),
    kOnnx.opaque_reduction("STFT", 17, infer_stft, work_stft, "windowed Fourier transforms of frames"),
    kMicrosoft.opaque_reduction("Rfft", 1, infer_rfft, work_real_transform,
                                "Fourier transform of a real signal"),
    kMicrosoft.opaque_reduction("Irfft", 1, infer_irfft, work_real_transform,
                                "inverse Fourier transform to a real signal"),
};

} // namespace

constinit const std::span<const OperatorRow> signal_rows = kSignalRows;

} // namespace archsim
