// Resampling of images: Resize, Upsample, grids.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace archsim {

namespace {

// --- Resize: X, roi, scales, sizes (opset 11); X, scales (opset 10)

std::vector<std::size_t> resize_axes(const NodeContext& c, std::size_t count) {
    const std::size_t rank = c.shape(0).size();
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (const auto* given = c.integers("axes"); given && !given->empty()) {
        axes.clear();
        for (const std::int64_t axis : *given)
            axes.push_back(normalized_axis(axis, rank));
    }
    if (axes.size() != count)
        malformed("one scale or size per axis is needed");
    return axes;
}

/// An axis scales to floor(size x scale). Files store the scale as float32, so the product is taken in
/// float32.
std::int64_t scaled(std::int64_t size, double scale) {
    if (!(scale >= 0))
        malformed("a scale must not be negative");
    return saturated_int(
        static_cast<double>(std::floor(static_cast<float>(size) * static_cast<float>(scale))));
}

void scale_shape(NodeContext& c, const Constant& scales, std::size_t count) {
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

void size_shape(NodeContext& c, const Constant& sizes) {
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

void infer_resize(NodeContext& c) {
    const std::size_t scales = c.opset() < 11 ? 1 : 2;
    if (scales == 2 && c.has_input(3) && c.input(3).elements() > 0)
        size_shape(c, known_value(c, 3));
    else if (c.has_input(scales))
        scale_shape(c, known_value(c, scales), value_count(known_value(c, scales)));
    else
        malformed("neither scales nor sizes are given");
}

void infer_upsample(NodeContext& c) {
    if (c.has_input(1)) {
        scale_shape(c, known_value(c, 1), value_count(known_value(c, 1)));
        return;
    }
    Constant scales;
    if (const auto* given = c.reals("scales")) {
        scales.reals = *given;
    } else { // opset 1
        scales.reals = {1, 1, c.real("height_scale", 1), c.real("width_scale", 1)};
    }
    scale_shape(c, scales, scales.reals.size());
}

/// Interpolation works on the axes that change: linear takes 2 operations per neighbour for 2 neighbours an
/// axis, cubic 4 neighbours; an antialiased filter widens by the reduction.
void work_resize(NodeContext& c) {
    const std::string_view mode = c.text("mode", "nearest");
    const Shape &in = c.shape(0), &out = c.output(0).shape;
    if (in == out) {
        make_free(c);
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

void infer_grid_sample(NodeContext& c) {
    const Shape &x = c.shape(0), &grid = c.shape(1);
    if (x.size() < 3 || grid.size() != x.size())
        malformed("the grid needs the rank of the input");
    Shape out{x[0], x[1]};
    out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
    c.set_output(0, c.type(0), std::move(out));
}

/// 2 or 4 neighbours per axis with a multiply-add each; coordinates take 4 operations per axis and position.
void work_grid_sample(NodeContext& c) {
    const std::string_view mode = c.text("mode", "linear");
    const auto axes = static_cast<double>(c.rank(0) - 2);
    const double neighbours =
        mode == "nearest" ? 0 : std::pow(mode == "cubic" || mode == "bicubic" ? 4.0 : 2.0, axes);
    c.work().vector_ops = 2 * neighbours * c.output(0).elements() + 4 * c.elements(1);
}

void infer_affine_grid(NodeContext& c) {
    const auto& size = c.ints(1);
    if (size.size() < 3)
        malformed("the size needs batch, channels and spatial axes");
    Shape out{size[0]};
    out.insert(out.end(), size.begin() + 2, size.end());
    out.push_back(static_cast<std::int64_t>(size.size()) - 2);
    c.set_output(0, c.type(0), std::move(out));
}

/// border: left, top, right, bottom; scale: height and width, counted from the left and top border.
void infer_crop(NodeContext& c) {
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

void work_crop(NodeContext& c) {
    read_part(c, 0, c.output(0).elements());
}

/// X, rois [regions, 4], batch indices, crop size.
void infer_crop_and_resize(NodeContext& c) {
    const auto& size = c.ints(3);
    if (size.size() != 2)
        malformed("the crop size needs height and width");
    c.set_output(0, c.type(0), {c.dim(1, 0), c.dim(0, 1), size[0], size[1]});
}

/// The encoded bytes do not tell the image's size.
void infer_image_decoder(NodeContext& c) {
    throw NodeProblem{FindingKind::unresolved_dimension,
                      "the size of a decoded image is only known at run time",
                      "declare the output shape of '" + std::string(c.node().name) + "' in the file"};
}

constexpr OperatorRow kVisionRows[] = {
    kOnnx.movement(
        "Resize", 10, infer_resize, work_resize,
        "resamples; 2 operations per neighbour, 2 (linear) or 4 (cubic) neighbours per changed axis"),
    kOnnx.movement("Upsample", 1, infer_upsample, work_resize, "older Resize"),
    kOnnx.movement("GridSample", 16, infer_grid_sample, work_grid_sample,
                   "samples at given positions; 2 operations per neighbour"),
    kMicrosoft.movement("GridSample", 1, infer_grid_sample, work_grid_sample,
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
};

} // namespace

constinit const std::span<const OperatorRow> vision_rows = kVisionRows;

} // namespace archsim
