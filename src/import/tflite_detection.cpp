// Suppression of overlapping boxes: the built-in operators, and the custom one that ends SSD networks.

#include "import/tflite_operator.hpp"

namespace archsim::import {

namespace {

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
bool add_detections(const TfliteCall& c) {
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
    for (std::size_t i = 0; i < results.size(); ++i)
        g.set(c.out(i), results[i], AxisOrder::file, false);
    return true;
}

/// Boxes, scores, how many are kept: one class of one image. Their indices, scores where asked for, number.
void add_suppression(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const auto most = g.integers(c.in(2));
    const TensorId boxes = g.emit("Unsqueeze", {c.get(0), g.ints({0})}),
                   scores = g.emit("Unsqueeze", {c.get(1), g.ints({0, 1})}),
                   found = g.emit("NonMaxSuppression", {boxes, scores, most ? g.ints(*most) : c.get(2)}),
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

constexpr TfliteRow kRowsDetection[] = {
    {"NON_MAX_SUPPRESSION_V4", add_suppression},
    {"NON_MAX_SUPPRESSION_V5", add_suppression},
    {"CUSTOM", nullptr, add_detections},
};
static_assert(are_built_in(kRowsDetection));

} // namespace

bool add_tflite_detection(const TfliteCall& c) {
    return add_by_row(kRowsDetection, c);
}

} // namespace archsim::import
