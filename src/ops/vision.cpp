// Resampling of images: Resize, Upsample, grids; transforms of sound.

#include "core/lists.hpp"
#include "ops/families.hpp"

#include <cmath>

namespace archsim {

// --- Resize: X, roi, scales, sizes (opset 11); X, scales (opset 10)

static std::vector<std::size_t> resize_axes(const NodeContext& c, std::size_t count) {
    const std::size_t rank = c.shape(0).size();
    std::vector<std::size_t> axes = indices(rank);
    if (const auto* given = c.integers("axes"); given && !given->empty())
        axes = mapped(*given, [&](const std::int64_t axis) { return normalized_axis(axis, rank); });
    if (axes.size() != count)
        malformed("one scale or size per axis is needed");
    return axes;
}

/// An axis scales to floor(size x scale). Files store the scale as float32, so the product is taken in
/// float32.
static std::int64_t scaled(std::int64_t size, double scale) {
    if (!(scale >= 0))
        malformed("a scale must not be negative");
    return saturated_int(
        static_cast<double>(std::floor(static_cast<float>(size) * static_cast<float>(scale))));
}

static void scale_shape(NodeContext& c, const Constant& scales, std::size_t count) {
    Shape out = c.shape(0);
    const auto axes = resize_axes(c, count);
    for (std::size_t i = 0; i < count; ++i)
        out[axes[i]] = scaled(out[axes[i]], number_at(scales, i));
    // Cropping takes the region of interest first.
    if (c.text("coordinate_transformation_mode", "") == "tf_crop_and_resize" && c.has_input(1)) {
        const Constant& roi = known_value(c, 1);
        if (value_count(roi) == 2 * count)
            for (std::size_t i = 0; i < count; ++i)
                out[axes[i]] = saturated_int(std::floor(static_cast<double>(c.shape(0)[axes[i]]) *
                                                        (number_at(roi, i + count) - number_at(roi, i)) *
                                                        number_at(scales, i)));
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void size_shape(NodeContext& c, const Constant& sizes) {
    Shape out = c.shape(0);
    const std::size_t count = value_count(sizes);
    const auto axes = resize_axes(c, count);
    const std::string_view policy = c.text("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch") {
        for (std::size_t i = 0; i < count; ++i)
            out[axes[i]] = saturated_int(number_at(sizes, i));
    } else {
        // One scale for all axes: the smallest that fits inside, or the largest that covers.
        double scale = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double s =
                number_at(sizes, i) / static_cast<double>(std::max<std::int64_t>(out[axes[i]], 1));
            scale = i == 0 ? s : policy == "not_larger" ? std::min(scale, s) : std::max(scale, s);
        }
        for (std::size_t i = 0; i < count; ++i)
            out[axes[i]] = saturated_int(std::nearbyint(scale * static_cast<double>(out[axes[i]])));
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_resize(NodeContext& c) {
    const std::size_t scales = c.opset() < 11 ? 1 : 2;
    if (scales == 2 && c.has_input(3) && c.input(3).elements() > 0)
        size_shape(c, known_value(c, 3));
    else if (c.has_input(scales))
        scale_shape(c, known_value(c, scales), value_count(known_value(c, scales)));
    else
        malformed("neither scales nor sizes are given");
}

static void infer_upsample(NodeContext& c) {
    if (c.has_input(1)) {
        scale_shape(c, known_value(c, 1), value_count(known_value(c, 1)));
        return;
    }
    Constant scales;
    const auto* given = c.reals("scales");
    scales.reals = given // else opset 1
                       ? *given
                       : std::vector<double>{1, 1, c.real("height_scale", 1), c.real("width_scale", 1)};
    scale_shape(c, scales, scales.reals.size());
}

/// Interpolation works on the axes that change: linear takes 2 operations per neighbour for 2 neighbours an
/// axis, cubic 4 neighbours; an antialiased filter widens by the reduction.
static void work_resize(NodeContext& c) {
    const std::string_view mode = c.text("mode", "nearest");
    const Shape &in = c.shape(0), &out = c.output(0).shape;
    if (in == out) {
        work_free(c);
        return;
    }
    if (in.size() != out.size())
        malformed("the declared output shape has another rank than the input");
    if (mode == "nearest")
        return;
    double neighbours = 1;
    const bool antialias = c.integer("antialias", 0) != 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i] == out[i])
            continue;
        const double reduction =
            static_cast<double>(in[i]) / static_cast<double>(std::max<std::int64_t>(out[i], 1));
        neighbours *= (mode == "cubic" ? 4 : 2) * (antialias ? std::max(1.0, reduction) : 1.0);
    }
    c.work().kind = OpKind::elementwise;
    c.work().vector_ops = 2 * neighbours * c.output(0).elements();
}

// --- Grids

static void infer_grid_sample(NodeContext& c) {
    const Shape &x = c.shape(0), &grid = c.shape(1);
    if (x.size() < 3 || grid.size() != x.size())
        malformed("the grid needs the rank of the input");
    Shape out{x[0], x[1]};
    out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
    c.set_output(0, c.type(0), std::move(out));
}

/// 2 or 4 neighbours per axis with a multiply-add each; coordinates take 4 operations per axis and position.
static void work_grid_sample(NodeContext& c) {
    const std::string_view mode = c.text("mode", "linear");
    const auto axes = static_cast<double>(c.rank(0) - 2);
    const double neighbours =
        mode == "nearest" ? 0 : std::pow(mode == "cubic" || mode == "bicubic" ? 4.0 : 2.0, axes);
    c.work().vector_ops = 2 * neighbours * c.output(0).elements() + 4 * c.elements(1);
}

static void infer_affine_grid(NodeContext& c) {
    const auto& size = c.ints(1);
    if (size.size() < 3)
        malformed("the size needs batch, channels and spatial axes");
    Shape out{size[0]};
    out.insert(out.end(), size.begin() + 2, size.end());
    out.push_back(static_cast<std::int64_t>(size.size()) - 2);
    c.set_output(0, c.type(0), std::move(out));
}

/// border: left, top, right, bottom; scale: height and width, counted from the left and top border.
static void infer_crop(NodeContext& c) {
    Shape out = c.shape(0);
    const auto* border = c.integers("border");
    const auto* scale = c.integers("scale");
    if (out.size() != 4 || border == nullptr || border->size() != 4)
        malformed("cropping needs an image and a border of four numbers");
    if (scale != nullptr && scale->size() != 2)
        malformed("the scale needs height and width");
    for (std::size_t i = 0; i < 2; ++i) // height, width
        out[2 + i] = scale != nullptr ? (*scale)[i] : out[2 + i] - (*border)[1 - i] - (*border)[3 - i];
    c.set_output(0, c.type(0), std::move(out));
}

static void work_crop(NodeContext& c) {
    read_part(c, 0, c.output(0).elements());
}

/// X, rois [regions, 4], batch indices, crop size.
static void infer_crop_and_resize(NodeContext& c) {
    const auto& size = c.ints(3);
    if (size.size() != 2)
        malformed("the crop size needs height and width");
    c.set_output(0, c.type(0), {c.dim(1, 0), c.dim(0, 1), size[0], size[1]});
}

/// The encoded bytes do not tell the image's size.
static void infer_image_decoder(NodeContext& c) {
    throw NodeProblem{FindingKind::unresolved_dimension,
                      "the size of a decoded image is only known at run time",
                      "declare the output shape of '" + std::string(c.node().name) + "' in the file"};
}

// Fourier transforms. A fast transform of n complex points takes 5 n log2 n real operations (Cooley and Tukey
// 1965).

static double transform_operations(double points) {
    return 5 * points * std::log2(std::max(points, 2.0));
}

/// The axis is an attribute before opset 20 and an input after; the default is the last but one.
static std::size_t transform_axis(const NodeContext& c) {
    const std::size_t rank = c.shape(0).size();
    if (rank < 2)
        malformed("the transform needs a signal axis and one of real and imaginary parts");
    std::int64_t axis = c.opset() >= 20 ? -2 : c.integer("axis", 1);
    if (c.has_input(2))
        axis = c.scalar_int(2);
    return normalized_axis(axis, rank);
}

static void infer_dft(NodeContext& c) {
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

static void work_dft(NodeContext& c) {
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
static Frames frames_of(const NodeContext& c) {
    Frames f;
    const std::int64_t step = c.scalar_int(1);
    f.length = c.has_input(3) ? c.scalar_int(3) : c.dim(2, 0);
    if (step < 1 || f.length < 1 || f.length > c.dim(0, 1))
        malformed("frame step and frame length must be positive and fit the signal");
    f.count = (c.dim(0, 1) - f.length) / step + 1;
    return f;
}

static void infer_stft(NodeContext& c) {
    const Frames f = frames_of(c);
    const bool onesided = c.integer("onesided", 1) != 0;
    c.set_output(0, c.type(0), {c.dim(0, 0), f.count, onesided ? f.length / 2 + 1 : f.length, 2});
}

static void work_stft(NodeContext& c) {
    const Frames f = frames_of(c);
    const double transforms = extent(c, 0, 0) * static_cast<double>(f.count);
    const auto length = static_cast<double>(f.length);
    const bool half = c.integer("onesided", 1) != 0;
    c.work().vector_ops =
        transforms * (transform_operations(length) / (half ? 2 : 1) + (c.has_input(2) ? length : 0));
}

/// com.microsoft: signal_ndim trailing axes, real and imaginary parts last in the spectrum.
static void infer_rfft(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.empty())
        malformed("a signal axis is missing");
    out.back() = out.back() / 2 + 1;
    out.push_back(2);
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_irfft(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.size() < 2)
        malformed("a spectrum needs real and imaginary parts");
    out.pop_back();
    out.back() = 2 * (out.back() - 1);
    c.set_output(0, c.type(0), std::move(out));
}

static void work_real_transform(NodeContext& c) {
    const double n = std::max(c.elements(0), c.output(0).elements());
    const Shape& signal = c.node().op_type == "Rfft" ? c.shape(0) : c.output(0).shape;
    const double points = signal.empty() ? 1 : static_cast<double>(signal.back());
    c.work().vector_ops = points > 0 ? n / points * transform_operations(points) / 2 : 0;
}

constexpr OperatorRow kVisionRows[] = {
    kOnnx.movement(
        "Resize", 10, infer_resize, work_resize,
        "resamples; 2 operations per neighbour, 2 (linear) or 4 (cubic) neighbours per changed axis"),
    kOnnx.movement("Upsample", 1, infer_upsample, work_resize, "older Resize"),
    kOnnx.movement("GridSample", 16, infer_grid_sample, work_grid_sample,
                   "samples at given positions; 2 operations per neighbour"),
    kOnnx.movement("AffineGrid", 20, infer_affine_grid, work_per_output, {6, 0},
                   "positions of an affine map: 3 multiply-adds each"),
    kOnnx.movement("Crop", 1, infer_crop, work_crop,
                   "a part of an image; reads only that part (withdrawn operator)"),
    kMicrosoft.movement("CropAndResize", 1, infer_crop_and_resize, work_per_output, {8, 0},
                        "bilinear crops of regions"),
    kOnnx.movement(
        "ImageDecoder", 20, infer_image_decoder, work_per_output, {30, 0},
        "decodes an image: about 30 operations per value for an inverse cosine transform and colour"),
    kOnnx.opaque_reduction("DFT", 17, infer_dft, work_dft,
                           "Fourier transform: 5 n log2 n operations, half if real"),
    kOnnx.opaque_reduction("STFT", 17, infer_stft, work_stft, "windowed Fourier transforms of frames"),
    kMicrosoft.opaque_reduction("Rfft", 1, infer_rfft, work_real_transform,
                                "Fourier transform of a real signal"),
    kMicrosoft.opaque_reduction("Irfft", 1, infer_irfft, work_real_transform,
                                "inverse Fourier transform to a real signal"),
};

constinit const std::span<const OperatorRow> vision_rows = kVisionRows;

} // namespace archsim
