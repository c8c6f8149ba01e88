// Convolutions, pools and resampling: what works on images; suppression of overlapping boxes: the built-in
// operators, and the custom one that ends SSD networks.

#include "import/tflite.hpp"

namespace archsim::import {

constexpr AxisOrder kImage = AxisOrder::channels_first;
using Ints = std::vector<std::int64_t>;

static Ints sized(std::int64_t height, std::int64_t width) {
    return {std::max<std::int64_t>(1, height), std::max<std::int64_t>(1, width)};
}

/// Padding: SAME, VALID.
static AttributeValue padding(std::int64_t code) {
    return std::string(code == 0 ? "SAME_UPPER" : "VALID");
}

static void need_image(const TfliteCall& c, std::size_t input) {
    constexpr std::size_t kImageAxes = 4;
    if (c.rank(input) != kImageAxes)
        throw FlatError("an operator of images has an operand that is none");
}

/// Weights O, H, W, I as O, I, H, W; or 1, H, W, O as O, 1, H, W: a group for every channel.
static void add_conv(const TfliteCall& c) {
    need_image(c, 0);
    need_image(c, 1);
    const bool depthwise = c.code() == builtin("DEPTHWISE_CONV_2D"); // its options have a field more
    const unsigned dilation = depthwise ? 5 : 4;
    const Shape w = c.shape(1);
    const std::int64_t channels = c.shape(0)[3], each = depthwise ? 1 : std::max<std::int64_t>(1, w[3]);
    TfliteGraph& g = c.graph();
    const TensorId x = c.get(0, kImage),
                   weights = g.weights(c.in(1), depthwise ? Shape{w[3], w[0], w[1], w[2]}
                                                          : Shape{w[0], w[3], w[1], w[2]}),
                   bias = g.get_optional(c.optional_in(2), AxisOrder::file);
    const TensorId y = g.emit(
        "Conv", {x, weights, bias},
        {{"kernel_shape", Ints{w[1], w[2]}},
         {"strides", sized(c.option<std::int32_t>(2, 1), c.option<std::int32_t>(1, 1))},
         {"dilations", sized(c.option<std::int32_t>(dilation + 1, 1), c.option<std::int32_t>(dilation, 1))},
         {"group", std::max<std::int64_t>(1, channels / each)},
         {"auto_pad", padding(c.option<std::int8_t>(0, 0))}});
    g.set(c.out(), c.activated(y, depthwise ? 4 : 3), kImage);
}

struct TransposedConv {
    std::size_t x = 0, weights = 1;
    std::int64_t bias = -1, padding = 0, stride_height = 1, stride_width = 1;
};

/// Weights O, H, W, I as I, O, H, W.
static TensorId transposed(const TfliteCall& c, const TransposedConv& t) {
    need_image(c, t.x);
    need_image(c, t.weights);
    const Shape w = c.shape(t.weights), out = c.graph().tensor(c.out()).shape;
    TfliteGraph& g = c.graph();
    const TensorId x = c.get(t.x, kImage), weights = g.weights(c.in(t.weights), {w[3], w[0], w[1], w[2]}),
                   bias = g.get_optional(t.bias, AxisOrder::file);
    TfliteAttributes attributes = {{"kernel_shape", Ints{w[1], w[2]}},
                                   {"strides", sized(t.stride_height, t.stride_width)},
                                   {"auto_pad", padding(t.padding)}};
    if (out.size() == w.size())
        attributes.emplace_back("output_shape", Ints{out[1], out[2]});
    return g.emit("ConvTranspose", {x, weights, bias}, std::move(attributes));
}

static void add_transpose_conv(const TfliteCall& c) {
    const TensorId y = transposed(c, {.x = 2,
                                      .bias = c.optional_in(3),
                                      .padding = c.option<std::int8_t>(0, 0),
                                      .stride_height = c.option<std::int32_t>(2, 1),
                                      .stride_width = c.option<std::int32_t>(1, 1)});
    c.graph().set(c.out(), c.activated(y, 3), kImage);
}

/// MediaPipe's transposed convolution with a bias; its options are TfLiteTransposeConvParams: padding (same
/// is 1, valid 2), stride of the width, of the height.
static bool add_custom_image(const TfliteCall& c) {
    constexpr std::size_t kParameterBytes = 12;
    const FlatVector bytes = c.op().custom_options;
    if (c.op().custom != "Convolution2DTransposeBias" || bytes.count < kParameterBytes)
        return false;
    const auto number = [&](std::uint64_t i) {
        return static_cast<std::int32_t>(c.graph().buffer().number<std::uint32_t>(bytes.first + 4 * i));
    };
    const TensorId y = transposed(c, {.bias = c.optional_in(2),
                                      .padding = number(0) == 1 ? 0 : 1,
                                      .stride_height = number(2),
                                      .stride_width = number(1)});
    c.graph().set(c.out(), y, kImage);
    return true;
}

static void add_pool(const TfliteCall& c, std::string_view op) {
    need_image(c, 0); // LpPool takes the second norm where nothing is said
    const TensorId y =
        c.graph().emit(op, {c.get(0, kImage)},
                       {{"kernel_shape", sized(c.option<std::int32_t>(4, 1), c.option<std::int32_t>(3, 1))},
                        {"strides", sized(c.option<std::int32_t>(2, 1), c.option<std::int32_t>(1, 1))},
                        {"auto_pad", padding(c.option<std::int8_t>(0, 0))}});
    c.graph().set(c.out(), c.activated(y, 5), kImage);
}

static void add_resize(const TfliteCall& c, const char* mode) {
    need_image(c, 0);
    TfliteGraph& g = c.graph();
    const TensorId x = c.get(0, kImage);
    const TensorId sizes = c.sizes(1);
    g.set(c.out(),
          g.emit("Resize", {x, kNoTensor, kNoTensor, sizes},
                 {{"mode", std::string(mode)}, {"axes", Ints{2, 3}}}),
          kImage);
}

static void add_blocks(const TfliteCall& c, std::string_view op) {
    need_image(c, 0);
    c.graph().set(
        c.out(),
        c.graph().emit(op, {c.get(0, kImage)}, {{"blocksize", std::int64_t{c.option<std::int32_t>(0, 1)}}}),
        kImage, false);
}

/// Blocks of pixels to and from the batch: how TensorFlow writes a dilated convolution.
static void add_batch_blocks(const TfliteCall& c, const char* edges) {
    TfliteGraph& g = c.graph();
    const AxisOrder order = c.order();
    const Ints block = c.known(1), amounts = c.known(2);
    if (block.empty() || block.size() >= c.rank(0) || amounts.size() != 2 * block.size())
        throw FlatError("its blocks do not fit its operand");
    Ints axes;
    for (std::size_t i = 0; i < block.size(); ++i)
        axes.push_back(c.axis(static_cast<std::int64_t>(i) + 1, c.rank(0), order));
    const TensorId x = c.get(0, order);
    g.set(c.out(),
          g.emit_own(name_of_call(c.op()), {x},
                     {{"block_shape", block}, {edges, amounts}, {"axes", std::move(axes)}}),
          order, false);
}

constexpr std::size_t kVolumeRank = 5;

/// N, D, H, W, C with its axes named N, C, D, H, W, which costs nothing.
static TensorId volume(const TfliteCall& c, std::size_t input) {
    if (c.rank(input) != kVolumeRank)
        throw FlatError("an operator of volumes has an operand that is none");
    const Shape s = c.shape(input);
    return c.graph().emit("Reshape", {c.get(input), c.graph().ints({0, s[4], s[1], s[2], s[3]})});
}

static void set_volume(const TfliteCall& c, TensorId y) {
    const Shape s = c.graph().tensor(c.out()).shape;
    if (s.size() != kVolumeRank)
        throw FlatError("an operator of volumes has a result that is none");
    c.graph().set(c.out(),
                  c.graph().emit("Reshape", {c.activated(y, 4), c.graph().ints({0, s[1], s[2], s[3], s[4]})}),
                  AxisOrder::file);
}

static TfliteAttributes volume_attributes(const TfliteCall& c, const Shape& w) {
    const auto three = [&](unsigned depth, unsigned width, unsigned height) {
        const auto at = [&](unsigned field) {
            return std::max<std::int64_t>(1, c.option<std::int32_t>(field, 1));
        };
        return Ints{at(depth), at(height), at(width)};
    };
    return {{"kernel_shape", Ints{w[0], w[1], w[2]}},
            {"strides", three(1, 2, 3)},
            {"dilations", three(5, 6, 7)},
            {"auto_pad", padding(c.option<std::int8_t>(0, 0))}};
}

/// Weights D, H, W, I, O as O, I, D, H, W; transposed D, H, W, O, I as I, O, D, H, W.
template <bool Transposed>
static void add_conv_3d(const TfliteCall& c) {
    constexpr std::size_t kData = Transposed ? 2 : 0, kBias = Transposed ? 3 : 2;
    const TensorId x = volume(c, kData);
    const Shape w = c.shape(1), out = c.graph().tensor(c.out()).shape;
    if (w.size() != kVolumeRank)
        throw FlatError("its weights have no five axes");
    TfliteGraph& g = c.graph();
    TfliteAttributes attributes = volume_attributes(c, w);
    if (!Transposed)
        attributes.emplace_back("group",
                                std::max<std::int64_t>(1, c.shape(0)[4] / std::max<std::int64_t>(1, w[3])));
    else if (out.size() == kVolumeRank)
        attributes.emplace_back("output_shape", Ints{out[1], out[2], out[3]});
    const TensorId weights = g.weights(c.in(1), {w[4], w[3], w[0], w[1], w[2]}),
                   bias = g.get_optional(c.optional_in(kBias), AxisOrder::file);
    set_volume(c, g.emit(Transposed ? "ConvTranspose" : "Conv", {x, weights, bias}, std::move(attributes)));
}

// Suppression of overlapping boxes: the built-in operators, and the custom one that ends SSD networks.

using Ints = std::vector<std::int64_t>;

/// The integers of a FlexBuffer map (google.github.io/flatbuffers, "FlexBuffers"): values and keys are
/// vectors that offsets lead back to; the type of each value stands behind the values.
class FlexMap {
  public:
    FlexMap(const FlatBuffer& buffer, FlatVector bytes)
        : buffer_(buffer), begin_(bytes.first), end_(bytes.first + bytes.count) {
        constexpr std::size_t kLeast = 3;
        if (bytes.count < kLeast)
            return;
        const unsigned root_width = byte(end_ - 1), type = byte(end_ - 2);
        if ((type >> 2) != kMap)
            return;
        width_ = 1u << (type & 3);
        values_ = back(end_ - 2 - root_width, root_width);
        count_ = number(values_ - width_, width_);
        const std::uint64_t keys_width = number(values_ - std::uint64_t{2} * width_, width_);
        keys_width_ = static_cast<unsigned>(keys_width);
        keys_ = back(values_ - std::uint64_t{3} * width_, width_);
    }

    std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
        constexpr unsigned kInt = 1, kUnsigned = 2, kBool = 26;
        for (std::uint64_t i = 0; i < count_; ++i) {
            if (!is(back(keys_ + i * keys_width_, keys_width_), key))
                continue;
            const unsigned type = byte(values_ + count_ * width_ + i) >> 2;
            if (type == kInt || type == kUnsigned || type == kBool)
                return static_cast<std::int64_t>(number(values_ + i * width_, width_));
        }
        return otherwise;
    }

  private:
    static constexpr unsigned kMap = 9;

    unsigned byte(std::uint64_t at) const {
        if (at < begin_ || at >= end_)
            throw FlatError("its options are damaged");
        return buffer_.number<std::uint8_t>(at);
    }
    std::uint64_t number(std::uint64_t at, unsigned width) const {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < width && i < 8; ++i)
            value |= std::uint64_t{byte(at + i)} << (8 * i);
        return value;
    }
    std::uint64_t back(std::uint64_t at, unsigned width) const { return at - number(at, width); }
    bool is(std::uint64_t at, std::string_view key) const {
        for (const char c : key)
            if (byte(at++) != static_cast<unsigned char>(c))
                return false;
        return byte(at) == 0;
    }

    const FlatBuffer& buffer_;
    std::uint64_t begin_, end_, values_ = 0, keys_ = 0, count_ = 0;
    unsigned width_ = 1, keys_width_ = 1;
};

/// Encoded boxes, scores of classes, anchors; as many detections as the file states or its options allow.
static bool add_detections(const TfliteCall& c) {
    if (c.op().custom != "TFLite_Detection_PostProcess")
        return false;
    constexpr std::int64_t kDefaultPerClass = 100; // where the options leave it out
    TfliteGraph& g = c.graph();
    const FlexMap options(g.buffer(), c.op().custom_options);
    const Shape stated = g.tensor(c.out()).shape;
    const std::int64_t kept = stated.size() == 3 ? stated[1]
                                                 : options.integer("max_detections", 0) *
                                                       options.integer("max_classes_per_detection", 1);
    if (kept <= 0 || c.input_count() < 3) // its row says what is missing
        return false;
    const bool regular = options.integer("use_regular_nms", 0) != 0;
    const auto results =
        g.emit_own(c.op().custom, {c.get(0), c.get(1), c.get(2)}, c.op().outputs.size(),
                   {{"detections", kept},
                    {"regular", std::int64_t{regular}},
                    {"per_class", options.integer("detections_per_class", kDefaultPerClass)}});
    c.set_moved(results);
    return true;
}

/// Boxes, scores, how many are kept: one class of one image. Their indices, scores where asked for, number.
static void add_suppression(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const TensorId boxes = g.emit("Unsqueeze", {c.get(0), g.ints({0})}),
                   scores = g.emit("Unsqueeze", {c.get(1), g.ints({0, 1})}),
                   found = g.emit("NonMaxSuppression", {boxes, scores, c.sizes(2)}),
                   column = g.emit("Slice", {found, g.ints({2}), g.ints({3}), g.ints({1})}),
                   kept = g.emit("Squeeze", {column, g.ints({1})});
    const bool with_scores = c.code() == builtin("NON_MAX_SUPPRESSION_V5");
    g.set(c.out(0), kept, AxisOrder::file, false);
    if (with_scores && c.op().outputs.size() > 1)
        g.set(c.out(1), g.emit("Gather", {c.get(1), kept}), AxisOrder::file, false);
    const std::size_t number = with_scores ? 2 : 1;
    if (c.op().outputs.size() > number)
        g.set(c.out(number), g.emit("Squeeze", {g.emit("Shape", {kept}), g.ints({0})}), AxisOrder::file,
              false);
}

constexpr TfliteRow kRowsImage[] = {
    {"CONV_2D", add_conv},
    {"DEPTHWISE_CONV_2D", add_conv},
    {"TRANSPOSE_CONV", add_transpose_conv},
    {"AVERAGE_POOL_2D", [](const TfliteCall& c) { add_pool(c, "AveragePool"); }},
    {"MAX_POOL_2D", [](const TfliteCall& c) { add_pool(c, "MaxPool"); }},
    {"L2_POOL_2D", [](const TfliteCall& c) { add_pool(c, "LpPool"); }},
    {"SPACE_TO_BATCH_ND", [](const TfliteCall& c) { add_batch_blocks(c, "paddings"); }},
    {"BATCH_TO_SPACE_ND", [](const TfliteCall& c) { add_batch_blocks(c, "crops"); }},
    {"CONV_3D", add_conv_3d<false>},
    {"CONV_3D_TRANSPOSE", add_conv_3d<true>},
    {"RESIZE_BILINEAR", [](const TfliteCall& c) { add_resize(c, "linear"); }},
    {"RESIZE_NEAREST_NEIGHBOR", [](const TfliteCall& c) { add_resize(c, "nearest"); }},
    {"DEPTH_TO_SPACE", [](const TfliteCall& c) { add_blocks(c, "DepthToSpace"); }},
    {"SPACE_TO_DEPTH", [](const TfliteCall& c) { add_blocks(c, "SpaceToDepth"); }},
    {"CUSTOM", nullptr, add_custom_image},
    {"NON_MAX_SUPPRESSION_V4", add_suppression},
    {"NON_MAX_SUPPRESSION_V5", add_suppression},
    {"CUSTOM", nullptr, add_detections},
};
static_assert(are_built_in(kRowsImage));

bool add_tflite_image(const TfliteCall& c) {
    return add_by_row(kRowsImage, c);
}

} // namespace archsim::import
