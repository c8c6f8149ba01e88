// Pooling and other windowed reductions.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

SpatialAttributes pool_attributes(const NodeContext& c) {
    const Shape& x = c.shape(0);
    if (x.size() < 3)
        malformed("the input needs a batch, channels and spatial axes");
    const auto* kernel = c.integers("kernel_shape");
    if (!kernel)
        malformed("attribute 'kernel_shape' is missing");
    return spatial_attributes(c, x.size() - 2, *kernel);
}

Shape pool_shape(const NodeContext& c) {
    const SpatialAttributes a = pool_attributes(c);
    const Shape& x = c.shape(0);
    Shape out{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
        out.push_back(window_output(a, i, x[i + 2]));
    return out;
}

void infer_pool(NodeContext& c) {
    Shape out = pool_shape(c);
    if (c.has_output(1))
        c.set_output(1, DataType::int64, out);
    c.set_output(0, c.type(0), std::move(out));
}

void set_window(NodeContext& c, Window w) {
    w.batch = static_cast<double>(c.dim(0, 0));
    w.in_channels = w.out_channels = w.groups = static_cast<double>(c.dim(0, 1));
    c.work().window = w;
}

/// The row's cost for each element under a window.
void work_pool(NodeContext& c) {
    if (c.output(0).shape.size() < 2) // a node that names no output has no work
        return;
    const SpatialAttributes a = pool_attributes(c);
    const Window w = window_of(a, std::span(c.shape(0)).subspan(2), std::span(c.output(0).shape).subspan(2));
    const double outputs = c.output(0).elements();
    set_window(c, w);
    c.work().vector_ops =
        outputs * (w.taps() * c.row().cost.vector + (c.node().op_type == "AveragePool" ? 1 : 0));
    c.work().special_ops = outputs * c.row().cost.special;
}

void infer_global_pool(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.size() < 2)
        malformed("the input needs a batch and channels");
    std::fill(out.begin() + 2, out.end(), 1);
    c.set_output(0, c.type(0), std::move(out));
}

void work_global_pool(NodeContext& c) {
    SpatialAttributes a;
    const auto in = std::span(c.shape(0)).subspan(2);
    a.kernel.assign(in.begin(), in.end());
    a.strides.assign(in.size(), 1);
    a.dilations.assign(in.size(), 1);
    set_window(c, window_of(a, in, std::span(c.output(0).shape).subspan(2)));
    c.work().vector_ops = c.elements(0) * c.row().cost.vector + c.output(0).elements();
    c.work().special_ops = c.output(0).elements() * c.row().cost.special;
}

void infer_max_unpool(NodeContext& c) {
    if (c.has_input(2)) {
        c.set_output(0, c.type(0), c.ints(2));
        return;
    }
    const SpatialAttributes a = pool_attributes(c);
    const Shape& x = c.shape(0);
    Shape out{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
        out.push_back(saturated_int(static_cast<double>(x[i + 2] - 1) * static_cast<double>(a.strides[i]) +
                                    static_cast<double>(a.kernel[i] - a.pads_begin[i] - a.pads_end[i])));
    c.set_output(0, c.type(0), std::move(out));
}

void infer_max_roi_pool(NodeContext& c) {
    const auto* size = c.integers("pooled_shape");
    if (!size || size->size() != 2)
        malformed("attribute 'pooled_shape' needs two sizes");
    c.set_output(0, c.type(0), {c.dim(1, 0), c.dim(0, 1), (*size)[0], (*size)[1]});
}

/// Regions may cover the whole image: each is taken to visit every pixel once.
void work_max_roi_pool(NodeContext& c) {
    c.work().vector_ops = static_cast<double>(c.dim(1, 0)) * c.elements(0);
}

void infer_roi_align(NodeContext& c) {
    c.set_output(0, c.type(0),
                 {c.dim(1, 0), c.dim(0, 1), c.integer("output_height", 1), c.integer("output_width", 1)});
}

/// Each sample is a bilinear interpolation of 4 pixels (8 operations) and one addition. An adaptive sampling
/// ratio (0) takes ceil(region / output) samples per axis; the region is taken as the whole map, its upper
/// bound.
void work_roi_align(NodeContext& c) {
    const auto ratio = static_cast<double>(c.integer("sampling_ratio", 0));
    const Shape& y = c.output(0).shape;
    const auto per_axis = [&](std::size_t axis) {
        return ratio > 0
                   ? ratio
                   : std::max(1.0, std::ceil(static_cast<double>(c.dim(0, static_cast<std::int64_t>(axis))) /
                                             static_cast<double>(std::max<std::int64_t>(y[axis], 1))));
    };
    const double samples = c.output(0).elements() * per_axis(2) * per_axis(3);
    c.work().vector_ops = samples * 9;
    c.work().partial_reads = {{std::uint16_t{0}, std::min(c.elements(0), samples * 4)}};
}

void infer_col2im(NodeContext& c) {
    const auto &image = c.ints(1), &block = c.ints(2);
    const double taps = product(block);
    if (c.rank(0) != 3 || taps <= 0 || image.size() != block.size())
        malformed("Col2Im needs a rank-3 input and a block per image axis");
    Shape out{c.dim(0, 0), saturated_int(static_cast<double>(c.dim(0, 1)) / taps)};
    out.insert(out.end(), image.begin(), image.end());
    c.set_output(0, c.type(0), std::move(out));
}

constexpr OperatorRow pooling(std::string_view name, std::string_view domain, int since, NodeFunction infer,
                              NodeFunction work, ElementCost cost, std::string_view doc) {
    return {name, domain, since, infer, work, nullptr, OpKind::pooling, FusionClass::reduction, cost, doc};
}

constexpr OperatorRow kPoolingRows[] = {
    pooling("MaxPool", kOnnxDomain, 1, infer_pool, work_pool, {1, 0}, "largest value under a window"),
    pooling("AveragePool", kOnnxDomain, 1, infer_pool, work_pool, {1, 0}, "mean under a window"),
    pooling("LpPool", kOnnxDomain, 1, infer_pool, work_pool, {2, 1}, "Lp norm under a window"),
    pooling("GlobalAveragePool", kOnnxDomain, 1, infer_global_pool, work_global_pool, {1, 0},
            "mean of each channel"),
    pooling("GlobalMaxPool", kOnnxDomain, 1, infer_global_pool, work_global_pool, {1, 0},
            "largest value of each channel"),
    pooling("GlobalLpPool", kOnnxDomain, 1, infer_global_pool, work_global_pool, {2, 1},
            "Lp norm of each channel"),
    pooling("MaxRoiPool", kOnnxDomain, 1, infer_max_roi_pool, work_max_roi_pool, {1, 0},
            "largest value in cells of regions; each region is taken to cover the image"),
    pooling("RoiAlign", kOnnxDomain, 10, infer_roi_align, work_roi_align, {9, 0},
            "bilinear samples in cells of regions: 9 operations per sample"),
    row("MaxUnpool", kOnnxDomain, 9, infer_max_unpool, work_movement, nullptr, OpKind::data_movement,
        FusionClass::injective, {}, "puts pooled values back where they came from"),
    row("Col2Im", kOnnxDomain, 18, infer_col2im, work_per_input, nullptr, OpKind::data_movement,
        FusionClass::injective, {1, 0}, "adds overlapping blocks into an image"),
};

} // namespace

std::span<const OperatorRow> pooling_rows() {
    return kPoolingRows;
}

} // namespace archsim
