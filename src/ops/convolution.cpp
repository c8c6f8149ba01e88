// Convolutions. A convolution is counted as the implicit matrix product of its output pixels by its taps
// (Chetlur et al., cuDNN, arXiv:1410.0759): M = output pixels of the batch, N = output channels per group,
// K = taps x input channels per group.

#include "ops/families.hpp"

namespace archsim {

struct Geometry {
    SpatialAttributes attributes;
    std::vector<std::int64_t> in;
    std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
};

static Geometry geometry_of(const NodeContext& c, const ConvolutionInputs& at) {
    const Shape &x = c.shape(at.data), &w = c.shape(at.weights);
    if (x.size() < 3 || w.size() != x.size())
        malformed("input and weights need the same rank of at least 3");
    Geometry g;
    g.batch = x[0];
    g.in_channels = at.channels_last ? x.back() : x[1];
    g.out_channels = w[0];
    g.groups = c.integer("group", 1);
    const std::size_t first = at.channels_last ? 1 : 2;
    g.in.assign(x.begin() + static_cast<std::ptrdiff_t>(first),
                x.end() - static_cast<std::ptrdiff_t>(at.channels_last ? 1 : 0));
    const auto* declared = c.integers("kernel_shape");
    std::vector<std::int64_t> kernel;
    // Layouts with channels last exist with either order of weights; the channel count tells which.
    const bool weights_last = at.channels_last && g.groups > 0 && w[1] != g.in_channels / g.groups &&
                              w.back() == g.in_channels / g.groups;
    if (declared && !declared->empty())
        kernel = *declared;
    else
        kernel.assign(w.begin() + (weights_last ? 1 : 2), w.end() - (weights_last ? 1 : 0));
    g.attributes = spatial_attributes(c, g.in.size(), kernel);
    const std::int64_t per_group = weights_last ? w.back() : w[1];
    if (g.groups < 1 || g.in_channels % g.groups != 0 || g.out_channels % g.groups != 0 ||
        g.in_channels / g.groups != per_group)
        sizes_differ("the weights take " + std::to_string(per_group) + " channels per group, the input has " +
                     std::to_string(g.in_channels) + " in " + std::to_string(g.groups) + " groups");
    return g;
}

static Window window_of(const Geometry& g, std::span<const std::int64_t> out) {
    Window w = window_of(g.attributes, g.in, out);
    w.batch = static_cast<double>(g.batch);
    w.in_channels = static_cast<double>(g.in_channels);
    w.out_channels = static_cast<double>(g.out_channels);
    w.groups = static_cast<double>(g.groups);
    return w;
}

static void add_bias(NodeContext& c, std::size_t bias) {
    if (c.has_input(bias)) {
        c.work().vector_ops += c.output(0).elements();
        c.mark_learned(bias);
    }
}

constexpr ConvolutionInputs kUsual{}, kDeformed{0, 1, 3, false}, kNhwc{0, 1, 2, true};

template <const ConvolutionInputs& At>
static void infer_conv(NodeContext& c) {
    c.set_output(0, c.type(0), convolution_shape(c, At));
}

static void work_conv(NodeContext& c) {
    convolution_work(c, kUsual);
}

static void infer_conv_integer(NodeContext& c) {
    c.set_output(0, DataType::int32, convolution_shape(c, {}));
}

static void work_conv_integer(NodeContext& c) {
    convolution_work(c, {0, 1, c.input_count() + 1, false});
    run_int8(c, {2, 3});
}

// --- QLinearConv: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias

static ConvolutionInputs qlinear_inputs(const NodeContext& c) {
    return {0, 3, 8, c.integer("channels_last", 0) != 0};
}

static void infer_qlinear_conv(NodeContext& c) {
    c.set_output(0, c.has_input(7) ? c.type(7) : c.type(0), convolution_shape(c, qlinear_inputs(c)));
}

static void work_qlinear_conv(NodeContext& c) {
    convolution_work(c, qlinear_inputs(c));
    // Requantisation: multiply, round, add the zero point and clip.
    c.work().vector_ops += 4 * c.output(0).elements();
    run_int8(c, {1u, 2u, 4u, 5u, 6u, 7u});
}

// --- ConvTranspose: weights [C, M/group, spatial...]

struct TransposedGeometry {
    Geometry base;
    std::vector<std::int64_t> out;
};

static TransposedGeometry transposed_geometry(const NodeContext& c) {
    const Shape &x = c.shape(0), &w = c.shape(1);
    if (x.size() < 3 || w.size() != x.size())
        malformed("input and weights need the same rank of at least 3");
    TransposedGeometry t;
    Geometry& g = t.base;
    g.batch = x[0];
    g.in_channels = x[1];
    g.groups = c.integer("group", 1);
    g.in.assign(x.begin() + 2, x.end());
    const auto* declared = c.integers("kernel_shape");
    const std::vector<std::int64_t> kernel =
        declared && !declared->empty() ? *declared : std::vector<std::int64_t>(w.begin() + 2, w.end());
    g.attributes = spatial_attributes(c, g.in.size(), kernel);
    if (g.groups < 1 || g.in_channels % g.groups != 0 || w[0] != g.in_channels)
        sizes_differ("input and weights differ in channels");
    if (__builtin_mul_overflow(w[1], g.groups, &g.out_channels))
        throw NodeProblem{FindingKind::too_large, "the output channels overflow", "check the node"};
    const auto* extra = c.integers("output_padding");
    const auto* wanted = c.integers("output_shape");
    const std::size_t rank = g.in.size();
    if ((extra && !extra->empty() && extra->size() != rank) ||
        (wanted && wanted->size() < rank && !wanted->empty()))
        malformed("output_padding or output_shape does not fit the spatial axes");
    const bool same = g.attributes.auto_pad == "SAME_UPPER" || g.attributes.auto_pad == "SAME_LOWER";
    for (std::size_t i = 0; i < rank; ++i) {
        const SpatialAttributes& a = g.attributes;
        const std::int64_t pads = a.auto_pad == "VALID" ? 0 : a.pads_begin[i] + a.pads_end[i];
        if (wanted && !wanted->empty())
            t.out.push_back((*wanted)[wanted->size() - rank + i]);
        else if (same)
            t.out.push_back(saturated_int(static_cast<double>(g.in[i]) * static_cast<double>(a.strides[i])));
        else
            t.out.push_back(
                saturated_int(static_cast<double>(a.strides[i]) * (static_cast<double>(g.in[i]) - 1) +
                              static_cast<double>(extra && !extra->empty() ? (*extra)[i] : 0) +
                              static_cast<double>((a.kernel[i] - 1) * a.dilations[i] + 1 - pads)));
    }
    return t;
}

static void infer_conv_transpose(NodeContext& c) {
    const TransposedGeometry t = transposed_geometry(c);
    Shape out{t.base.batch, t.base.out_channels};
    out.insert(out.end(), t.out.begin(), t.out.end());
    c.set_output(0, c.type(0), std::move(out));
}

/// Every input pixel meets every tap: M = input pixels of the batch, N = output channels per group x taps,
/// K = input channels per group; overlapping results are added while writing.
static void work_conv_transpose(NodeContext& c) {
    const TransposedGeometry t = transposed_geometry(c);
    const Geometry& g = t.base;
    Window w = window_of(g, t.out);
    w.transposed = true;
    add_product(c, {.groups = w.groups,
                    .m = w.batch * w.in_pixels(),
                    .n = w.out_channels / w.groups * w.taps(),
                    .k = w.in_channels / w.groups,
                    .weights_constant = c.is_constant(1)});
    c.work().window = w;
    c.mark_learned(1);
    add_bias(c, 2);
}

// --- DeformConv: X, W, offset, bias, mask

/// Bilinear sampling of every tap takes 8 multiply-adds and 4 coordinate operations per sampled element.
static void work_deform_conv(NodeContext& c) {
    convolution_work(c, kDeformed);
    const Window& w = *c.work().window;
    const double samples = w.batch * w.in_channels * w.out_pixels() * w.taps();
    c.work().vector_ops += samples * (c.has_input(4) ? 13 : 12);
    c.work().fusion = FusionClass::opaque;
}

// --- FusedConv, NhwcConv of com.microsoft

template <const ConvolutionInputs& At>
static void work_fused_conv(NodeContext& c) {
    convolution_work(c, At);
    const double n = c.output(0).elements();
    if (c.has_input(3))
        c.work().vector_ops += n; // residual sum
    const std::string_view activation = c.text("activation", "");
    if (activation == "Sigmoid" || activation == "Tanh")
        c.work().special_ops += n * (activation == "Sigmoid" ? 2 : 1);
    else if (!activation.empty())
        c.work().vector_ops += n * (activation == "Relu" ? 1 : 2);
}

constexpr OperatorRow kConvolutionRows[] = {
    kOnnx.convolution(
        "Conv", 1, infer_conv<kUsual>, work_conv,
        "convolution: output pixels x output channels x taps x input channels per group; bias adds one "
        "operation per output"),
    kOnnx.convolution("ConvTranspose", 1, infer_conv_transpose, work_conv_transpose,
                      "transposed convolution: input pixels x taps x channels, additions while writing"),
    kOnnx.convolution("ConvInteger", 10, infer_conv_integer, work_conv_integer,
                      "8-bit convolution with 32-bit results"),
    kOnnx.convolution("QLinearConv", 10, infer_qlinear_conv, work_qlinear_conv,
                      "8-bit convolution with 8-bit results: requantisation is 4 operations per output"),
    kMicrosoft.convolution("QLinearConv", 1, infer_qlinear_conv, work_qlinear_conv,
                           "8-bit convolution, channels last on request"),
    kOnnx.convolution("DeformConv", 19, infer_conv<kDeformed>, work_deform_conv,
                      "convolution that samples at learned offsets: 12 operations per sampled element"),
    kMicrosoft.convolution("FusedConv", 1, infer_conv<kUsual>, work_fused_conv<kUsual>,
                           "convolution with activation and residual sum"),
    kMicrosoft.convolution("NhwcConv", 1, infer_conv<kNhwc>, work_fused_conv<kNhwc>,
                           "convolution, channels last"),
    kMicrosoft.convolution("NhwcFusedConv", 1, infer_conv<kNhwc>, work_fused_conv<kNhwc>,
                           "convolution, channels last, with activation and residual sum"),
};

constinit const std::span<const OperatorRow> convolution_rows = kConvolutionRows;

Shape convolution_shape(const NodeContext& c, const ConvolutionInputs& at) {
    const Geometry g = geometry_of(c, at);
    Shape out{g.batch};
    if (!at.channels_last)
        out.push_back(g.out_channels);
    for (std::size_t i = 0; i < g.in.size(); ++i)
        out.push_back(window_output(g.attributes, i, g.in[i]));
    if (at.channels_last)
        out.push_back(g.out_channels);
    return out;
}

void convolution_work(NodeContext& c, const ConvolutionInputs& at) {
    const Geometry g = geometry_of(c, at);
    const Shape& y = c.output(0).shape;
    const std::size_t first = at.channels_last ? 1 : 2;
    const Window w = window_of(g, std::span(y).subspan(first, g.in.size()));
    add_product(c, {.groups = w.groups,
                    .m = w.batch * w.out_pixels(),
                    .n = w.out_channels / w.groups,
                    .k = w.taps() * w.in_channels / w.groups,
                    .weights_constant = c.is_constant(at.weights)});
    c.work().window = w;
    c.mark_learned(at.weights);
    add_bias(c, at.bias);
}

constexpr std::int64_t kMaxStep = std::int64_t{1} << 31; // keeps every product of two sizes inside 64 bits

static std::vector<std::int64_t> steps(const NodeContext& c, std::string_view key, std::size_t rank) {
    const auto* given = c.integers(key);
    if (!given || given->empty())
        return std::vector<std::int64_t>(rank, 1);
    if (given->size() != rank)
        malformed("attribute '" + std::string(key) + "' does not fit " + std::to_string(rank) +
                  " spatial axes");
    for (const std::int64_t v : *given)
        if (v < 1 || v > kMaxStep)
            malformed("attribute '" + std::string(key) + "' must be positive");
    return *given;
}

SpatialAttributes spatial_attributes(const NodeContext& c, std::size_t rank,
                                     const std::vector<std::int64_t>& kernel) {
    SpatialAttributes a;
    a.kernel = kernel;
    if (kernel.size() != rank)
        malformed("the kernel does not fit " + std::to_string(rank) + " spatial axes");
    for (const std::int64_t k : kernel)
        if (k < 0 || k > kMaxStep)
            malformed("the kernel size is absurd");
    a.strides = steps(c, "strides", rank);
    a.dilations = steps(c, "dilations", rank);
    a.pads_begin.assign(rank, 0);
    a.pads_end.assign(rank, 0);
    if (const auto* pads = c.integers("pads"); pads && !pads->empty()) {
        if (pads->size() != 2 * rank)
            malformed("attribute 'pads' does not fit " + std::to_string(rank) + " spatial axes");
        for (std::size_t i = 0; i < 2 * rank; ++i)
            if ((*pads)[i] < -kMaxStep || (*pads)[i] > kMaxStep)
                malformed("attribute 'pads' is absurd");
        std::copy_n(pads->begin(), rank, a.pads_begin.begin());
        std::copy_n(pads->begin() + static_cast<std::ptrdiff_t>(rank), rank, a.pads_end.begin());
    }
    a.auto_pad = c.text("auto_pad", "NOTSET");
    a.ceil_mode = c.integer("ceil_mode", 0) != 0;
    return a;
}

std::int64_t window_output(const SpatialAttributes& a, std::size_t i, std::int64_t input) {
    const std::int64_t stride = a.strides[i];
    if (a.auto_pad == "SAME_UPPER" || a.auto_pad == "SAME_LOWER")
        return input / stride + (input % stride != 0);
    const std::int64_t extent = (a.kernel[i] - 1) * a.dilations[i] + 1;
    const bool explicit_pads = a.auto_pad != "VALID";
    const std::int64_t pads = explicit_pads ? a.pads_begin[i] + a.pads_end[i] : 0;
    const std::int64_t room = input + pads - extent;
    if (room < 0)
        malformed("the window of " + std::to_string(extent) + " is larger than the padded input of " +
                  std::to_string(input + pads));
    if (!a.ceil_mode)
        return room / stride + 1;
    std::int64_t out = room / stride + (room % stride != 0) + 1;
    // A last window that would start inside the end padding is dropped (as PyTorch does; ONNX since opset
    // 19).
    if ((out - 1) * stride >= input + (explicit_pads ? a.pads_begin[i] : 0))
        --out;
    return out;
}

Window window_of(const SpatialAttributes& a, std::span<const std::int64_t> in,
                 std::span<const std::int64_t> out) {
    Window w;
    const std::size_t rank = in.size();
    // The innermost axis is last, so 1-D and 2-D windows use the trailing places.
    const std::size_t offset = rank < 3 ? 3 - rank : 0;
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t to = std::min<std::size_t>(i + offset, 2);
        w.in[to] *= static_cast<double>(in[i]);
        w.out[to] *= static_cast<double>(out[i]);
        w.kernel[to] *= static_cast<double>(a.kernel[i]);
        w.stride[to] = static_cast<double>(a.strides[i]);
        w.dilation[to] = static_cast<double>(a.dilations[i]);
    }
    return w;
}

} // namespace archsim
