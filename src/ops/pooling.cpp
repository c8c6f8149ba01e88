// Pooling and other windowed reductions; reductions over axes, argument searches and running sums.

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

static bool channels_last(const NodeContext& c) {
    return c.integer("channels_last", 0) != 0 || c.node().op_type == "NhwcMaxPool";
}

/// Batch, channels, spatial axes.
static Shape channels_first(const NodeContext& c, Shape shape) {
    if (channels_last(c) && shape.size() > 2)
        std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    return shape;
}

static void set_pool_output(NodeContext& c, Shape out) {
    if (channels_last(c) && out.size() > 2)
        std::rotate(out.begin() + 1, out.begin() + 2, out.end());
    c.set_output(0, c.type(0), std::move(out));
}

static SpatialAttributes pool_attributes(const NodeContext& c, const Shape& x) {
    if (x.size() < 3)
        malformed("the input needs a batch, channels and spatial axes");
    const auto* kernel = c.integers("kernel_shape");
    if (!kernel)
        malformed("attribute 'kernel_shape' is missing");
    return spatial_attributes(c, x.size() - 2, *kernel);
}

static void infer_pool(NodeContext& c) {
    const Shape x = channels_first(c, c.shape(0));
    const SpatialAttributes a = pool_attributes(c, x);
    Shape out{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
        out.push_back(window_output(a, i, x[i + 2]));
    if (c.has_output(1))
        c.set_output(1, DataType::int64, out);
    set_pool_output(c, std::move(out));
}

static const Window& set_window(NodeContext& c, const SpatialAttributes& a, const Shape& x) {
    const Shape y = channels_first(c, c.output(0).shape);
    Window w = window_of(a, std::span(x).subspan(2), std::span(y).subspan(2));
    w.batch = static_cast<double>(x[0]);
    w.in_channels = w.out_channels = w.groups = static_cast<double>(x[1]);
    return c.work().window.emplace(w);
}

/// The row's cost for each element under a window.
static void work_pool(NodeContext& c) {
    if (c.output(0).shape.size() < 2) // a node that names no output has no work
        return;
    const Shape x = channels_first(c, c.shape(0));
    const double outputs = c.output(0).elements(), taps = set_window(c, pool_attributes(c, x), x).taps();
    c.work().vector_ops =
        outputs * (taps * c.row().cost.vector + (c.node().op_type == "AveragePool" ? 1 : 0));
    c.work().special_ops = outputs * c.row().cost.special;
}

static void infer_global_pool(NodeContext& c) {
    Shape out = channels_first(c, c.shape(0));
    if (out.size() < 2)
        malformed("the input needs a batch and channels");
    std::fill(out.begin() + 2, out.end(), 1);
    set_pool_output(c, std::move(out));
}

static SpatialAttributes whole(const Shape& x) {
    SpatialAttributes a;
    a.kernel.assign(x.begin() + 2, x.end());
    a.strides.assign(a.kernel.size(), 1);
    a.dilations = a.strides;
    return a;
}

static void work_global_pool(NodeContext& c) {
    set_window(c, whole(c.shape(0)), c.shape(0));
    c.work().vector_ops = c.elements(0) * c.row().cost.vector + c.output(0).elements();
    c.work().special_ops = c.output(0).elements() * c.row().cost.special;
}

/// 8-bit means: removing the zero point and rescaling the result take 4 operations.
template <bool Global>
static void work_qlinear_pool(NodeContext& c) {
    const Shape x = channels_first(c, c.shape(0));
    if (x.size() < 2)
        malformed("the input needs a batch and channels");
    const Window& w = set_window(c, Global ? whole(x) : pool_attributes(c, x), x);
    c.work().vector_ops = c.output(0).elements() * (w.taps() + 4);
    run_int8(c);
    mark_learned_from(c, 1, false);
}

static void infer_max_unpool(NodeContext& c) {
    if (c.has_input(2)) {
        c.set_output(0, c.type(0), c.ints(2));
        return;
    }
    const Shape& x = c.shape(0);
    const SpatialAttributes a = pool_attributes(c, x);
    Shape out{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
        out.push_back(saturated_int(static_cast<double>(x[i + 2] - 1) * static_cast<double>(a.strides[i]) +
                                    static_cast<double>(a.kernel[i] - a.pads_begin[i] - a.pads_end[i])));
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_max_roi_pool(NodeContext& c) {
    const auto* size = c.integers("pooled_shape");
    if (!size || size->size() != 2)
        malformed("attribute 'pooled_shape' needs two sizes");
    c.set_output(0, c.type(0), {c.dim(1, 0), c.dim(0, 1), (*size)[0], (*size)[1]});
}

/// Regions may cover the whole image: each is taken to visit every pixel once.
static void work_max_roi_pool(NodeContext& c) {
    c.work().vector_ops = extent(c, 1, 0) * c.elements(0);
}

static void infer_roi_align(NodeContext& c) {
    c.set_output(0, c.type(0),
                 {c.dim(1, 0), c.dim(0, 1), c.integer("output_height", 1), c.integer("output_width", 1)});
}

/// Each sample is a bilinear interpolation of 4 pixels (8 operations) and one addition. An adaptive sampling
/// ratio (0) takes ceil(region / output) samples per axis; the region is taken as the whole map, its upper
/// bound.
static void work_roi_align(NodeContext& c) {
    const auto ratio = static_cast<double>(c.integer("sampling_ratio", 0));
    const Shape& y = c.output(0).shape;
    const auto per_axis = [&](std::size_t axis) {
        return ratio > 0 ? ratio
                         : std::max(1.0, std::ceil(extent(c, 0, static_cast<std::int64_t>(axis)) /
                                                   static_cast<double>(std::max<std::int64_t>(y[axis], 1))));
    };
    const double samples = c.output(0).elements() * per_axis(2) * per_axis(3);
    c.work().vector_ops = samples * 9;
    read_part(c, 0, std::min(c.elements(0), samples * 4));
}

static void infer_col2im(NodeContext& c) {
    const auto &image = c.ints(1), &block = c.ints(2);
    const double taps = product(block);
    if (c.rank(0) != 3 || taps <= 0 || image.size() != block.size())
        malformed("Col2Im needs a rank-3 input and a block per image axis");
    Shape out{c.dim(0, 0), saturated_int(extent(c, 0, 1) / taps)};
    out.insert(out.end(), image.begin(), image.end());
    c.set_output(0, c.type(0), std::move(out));
}

// Reductions over axes, argument searches and running sums.

/// Axes to reduce: an input in newer opsets, an attribute in older; empty and absent mean all axes unless
/// `noop_with_empty_axes`.
static std::vector<bool> reduced_axes(const NodeContext& c) {
    const std::size_t rank = c.shape(0).size();
    const auto given = axes_of(c, 1);
    if (!given || given->empty())
        return std::vector<bool>(rank, c.integer("noop_with_empty_axes", 0) == 0);
    std::vector<bool> reduced(rank, false);
    for (const std::size_t axis : normalized_axes(*given, rank))
        reduced[axis] = true;
    return reduced;
}

static void infer_reduce(NodeContext& c) {
    c.set_output(0, c.type(0), reduced_shape(c.shape(0), reduced_axes(c), c.integer("keepdims", 1) != 0));
}

static void work_reduce(NodeContext& c) {
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().special_ops = c.row().cost.special * c.elements(0);
    const std::string& type = c.node().op_type;
    // One more operation for each result: the mean's scaling, the norm's root, the logarithm.
    if (type == "ReduceMean")
        c.work().vector_ops += c.output(0).elements();
    else if (type == "ReduceL2" || type == "ReduceLogSum" || type == "ReduceLogSumExp")
        c.work().special_ops += c.output(0).elements();
    if (c.output(0).elements() == c.elements(0) && c.integer("noop_with_empty_axes", 0) != 0 &&
        c.output(0).shape == c.shape(0) && type != "ReduceSumSquare" && type != "ReduceL2" &&
        type != "ReduceLogSum")
        work_free(c);
}

/// Folds in double, which is exact for the sizes that shape arithmetic handles.
template <RealFunction Function, bool Mean = false>
static void fold_reduce(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    const std::size_t count = value_count(from);
    if (count == 0 || !from.strings.empty())
        return;
    const auto reduced = reduced_axes(c);
    Constant to = blank_value(c, 0);
    const auto results = static_cast<std::size_t>(product(to.shape));
    std::vector<double> values(results, 0.0);
    std::vector<bool> seen(results, false);
    for (std::size_t flat = 0; flat < count; ++flat) {
        std::size_t rest = flat, index = 0, stride = 1;
        for (std::size_t i = from.shape.size(); i-- > 0;) {
            const auto d = static_cast<std::size_t>(from.shape[i]);
            if (!reduced[i]) {
                index += rest % d * stride;
                stride *= d;
            }
            rest /= d;
        }
        const double x = number_at(from, flat);
        values[index] = seen[index] ? Function(values[index], x) : x;
        seen[index] = true;
    }
    for (double v : values) {
        if (Mean)
            v /= static_cast<double>(count) / static_cast<double>(results);
        if (is_floating(to.type))
            to.reals.push_back(rounded_to(to.type, v));
        else if (std::abs(v) > 9007199254740992.0)
            return;
        else
            to.ints.push_back(saturated_int(v));
    }
    c.set_value(0, std::move(to));
}

static void infer_arg(NodeContext& c) {
    const Shape& in = c.shape(0);
    std::vector<bool> reduced(in.size(), false);
    reduced[normalized_axis(c.integer("axis", 0), in.size())] = true;
    c.set_output(0, DataType::int64, reduced_shape(in, reduced, c.integer("keepdims", 1) != 0));
}

/// Running sums over one axis of a small integer vector.
static void fold_cumsum(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    if (from.shape.size() != 1 || from.ints.empty() || c.integer("reverse", 0) != 0)
        return;
    const bool exclusive = c.integer("exclusive", 0) != 0;
    Constant to = blank_value(c, 0);
    std::int64_t sum = 0;
    for (const std::int64_t v : from.ints) {
        if (exclusive)
            to.ints.push_back(sum);
        if (__builtin_add_overflow(sum, v, &sum))
            return;
        if (!exclusive)
            to.ints.push_back(sum);
    }
    c.set_value(0, std::move(to));
}

static constexpr OperatorRow reduce(std::string_view name, ElementCost cost, std::string_view doc,
                                    NodeFunction fold = nullptr) {
    return kOnnx.reduction(name, 1, infer_reduce, work_reduce, cost, doc, fold);
}

constexpr OperatorRow kReductionRows[] = {
    kOnnx.pooling("MaxPool", 1, infer_pool, work_pool, {1, 0}, "largest value under a window"),
    kOnnx.pooling("AveragePool", 1, infer_pool, work_pool, {1, 0}, "mean under a window"),
    kOnnx.pooling("LpPool", 1, infer_pool, work_pool, {2, 1}, "Lp norm under a window"),
    kOnnx.pooling("GlobalAveragePool", 1, infer_global_pool, work_global_pool, {1, 0},
                  "mean of each channel"),
    kOnnx.pooling("GlobalMaxPool", 1, infer_global_pool, work_global_pool, {1, 0},
                  "largest value of each channel"),
    kOnnx.pooling("GlobalLpPool", 1, infer_global_pool, work_global_pool, {2, 1}, "Lp norm of each channel"),
    kMicrosoft.pooling("QLinearAveragePool", 1, infer_pool, work_qlinear_pool<false>,
                       "8-bit mean under a window"),
    kMicrosoft.pooling("QLinearGlobalAveragePool", 1, infer_global_pool, work_qlinear_pool<true>,
                       "8-bit mean of each channel"),
    kMicrosoft.pooling("NhwcMaxPool", 1, infer_pool, work_pool, {1, 0},
                       "largest value under a window, channels last"),
    kOnnx.pooling("MaxRoiPool", 1, infer_max_roi_pool, work_max_roi_pool, {1, 0},
                  "largest value in cells of regions; each region is taken to cover the image"),
    kOnnx.pooling("RoiAlign", 10, infer_roi_align, work_roi_align, {9, 0},
                  "bilinear samples in cells of regions: 9 operations per sample"),
    kOnnx.movement("MaxUnpool", 9, infer_max_unpool, work_movement,
                   "puts pooled values back where they came from"),
    kOnnx.movement("Col2Im", 18, infer_col2im, work_per_input, {1, 0},
                   "adds overlapping blocks into an image"),
    reduce("ReduceSum", {1, 0}, "sum over axes", fold_reduce<real_of<std::plus<>>>),
    reduce("ReduceMean", {1, 0}, "mean over axes", fold_reduce<real_of<std::plus<>>, true>),
    reduce("ReduceProd", {1, 0}, "product over axes", fold_reduce<real_of<std::multiplies<>>>),
    reduce("ReduceMax", {1, 0}, "largest value over axes",
           fold_reduce<[](double a, double b) { return std::max(a, b); }>),
    reduce("ReduceMin", {1, 0}, "smallest value over axes",
           fold_reduce<[](double a, double b) { return std::min(a, b); }>),
    reduce("ReduceL1", {2, 0}, "sum of absolute values over axes"),
    reduce("ReduceL2", {2, 0}, "root of the sum of squares over axes"),
    reduce("ReduceSumSquare", {2, 0}, "sum of squares over axes"),
    reduce("ReduceLogSum", {1, 0}, "logarithm of the sum over axes"),
    reduce("ReduceLogSumExp", {3, 1}, "logarithm of the sum of exponentials over axes"),
    kOnnx.reduction("ArgMax", 1, infer_arg, work_per_input, {1, 0},
                    "place of the largest value along an axis"),
    kOnnx.reduction("ArgMin", 1, infer_arg, work_per_input, {1, 0},
                    "place of the smallest value along an axis"),
    kOnnx.opaque_reduction("CumSum", 11, infer_same, work_per_input, {1, 0}, "running sum along an axis",
                           fold_cumsum),
    kOnnx.opaque_reduction("CumProd", 26, infer_same, work_per_input, {1, 0},
                           "running product along an axis"),
};

constinit const std::span<const OperatorRow> reduction_rows = kReductionRows;

} // namespace archsim
