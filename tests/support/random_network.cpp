#include "support/random_network.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace archsim::test {

namespace {

constexpr int kOpset = 17;

using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Writes a graph operator by operator.
class Writer {
  public:
    TensorId input(std::vector<std::int64_t> sizes) {
        std::vector<Dimension> shape{{-1, "batch"}};
        for (const std::int64_t size : sizes)
            shape.push_back({size, {}});
        const TensorId id = tensor(TensorRole::input);
        graph_.tensors[id].shape = std::move(shape);
        graph_.inputs.push_back(id);
        return id;
    }
    TensorId weight(const std::vector<std::int64_t>& sizes) {
        const TensorId id = tensor(TensorRole::initializer);
        std::vector<Dimension> shape;
        for (const std::int64_t size : sizes)
            shape.push_back({size, {}});
        graph_.tensors[id].shape = std::move(shape);
        return id;
    }
    TensorId integers(std::vector<std::int64_t> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        const TensorId id = weight({count});
        Constant constant;
        constant.type = graph_.tensors[id].type = DataType::int64;
        constant.shape = {count};
        constant.ints = std::move(values);
        graph_.tensors[id].value = std::make_shared<const Constant>(std::move(constant));
        return id;
    }
    TensorId add(const char* type, TensorList inputs, Attributes attributes = {}) {
        const TensorId out = tensor(TensorRole::intermediate);
        Node node;
        node.op_type = type;
        node.name = std::string(type) + "_" + std::to_string(graph_.nodes.size());
        node.opset = kOpset;
        node.inputs = std::move(inputs);
        node.outputs = {out};
        node.attributes = std::move(attributes);
        graph_.nodes.push_back(std::move(node));
        return out;
    }
    ImportedGraph finish(TensorId result) {
        graph_.name = "random";
        graph_.opset_imports = {{"", kOpset}};
        graph_.outputs = {result};
        ImportedGraph model;
        model.info.name = "random";
        model.graph = std::make_shared<const Graph>(std::move(graph_));
        return model;
    }

  private:
    TensorId tensor(TensorRole role) {
        const auto id = static_cast<TensorId>(graph_.tensors.size());
        Tensor t;
        t.name = "t" + std::to_string(id);
        t.type = DataType::float32;
        t.role = role;
        graph_.tensors.push_back(std::move(t));
        return id;
    }
    Graph graph_;
};

AttributeValue pair_of(std::int64_t value) {
    return std::vector<std::int64_t>{value, value};
}
AttributeValue padding(std::int64_t value) {
    return std::vector<std::int64_t>{value, value, value, value};
}

/// An image of a network: its tensor, channels and height.
struct Image {
    TensorId tensor = kNoTensor;
    std::int64_t channels = 0, side = 0;
};

class Images {
  public:
    Images(Writer& writer, RandomSource& random) : writer_(writer), random_(random) {}

    Image convolution(const Image& in, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                      std::int64_t groups) {
        const TensorId weights = writer_.weight({channels, in.channels / groups, kernel, kernel});
        const TensorId bias = writer_.weight({channels});
        Image out{kNoTensor, channels, (in.side + stride - 1) / stride};
        const std::int64_t pad = (kernel - 1) / 2;
        out.tensor = writer_.add("Conv", {in.tensor, weights, bias},
                                 {{"kernel_shape", pair_of(kernel)},
                                  {"strides", pair_of(stride)},
                                  {"pads", padding(pad)},
                                  {"group", groups}});
        return out;
    }
    Image activated(Image image) {
        static constexpr const char* kKinds[] = {"Relu",      "Relu",  "Relu", "Clip",
                                                 "HardSwish", "swish", "none"};
        const std::string kind = random_.one_of(kKinds);
        if (kind == "swish") {
            const TensorId gate = writer_.add("Sigmoid", {image.tensor});
            image.tensor = writer_.add("Mul", {image.tensor, gate});
        } else if (kind != "none") {
            image.tensor = writer_.add(kind.c_str(), {image.tensor});
        }
        return image;
    }
    Image pooled(Image image) {
        if (image.side < 2)
            return image;
        image.tensor = writer_.add(random_.percent(50) ? "MaxPool" : "AveragePool", {image.tensor},
                                   {{"kernel_shape", pair_of(2)}, {"strides", pair_of(2)}});
        image.side /= 2;
        return image;
    }
    Image gated(Image image) {
        const Image mean{writer_.add("GlobalAveragePool", {image.tensor}), image.channels, 1};
        const std::int64_t inner = std::max<std::int64_t>(4, image.channels / 4);
        const Image reduced = activated(convolution(mean, inner, 1, 1, 1));
        const TensorId gate = writer_.add("Sigmoid", {convolution(reduced, image.channels, 1, 1, 1).tensor});
        image.tensor = writer_.add("Mul", {image.tensor, gate});
        return image;
    }
    /// What residual, mobile and branching networks repeat.
    Image block(const Image& in) {
        static constexpr std::int64_t kKernels[] = {1, 3, 3, 3, 5, 7};
        switch (random_.below(5)) {
        case 0: { // residual
            const std::int64_t inner = std::max<std::int64_t>(8, in.channels / (random_.percent(50) ? 1 : 4));
            Image x = activated(convolution(in, inner, 1, 1, 1));
            x = activated(convolution(x, inner, 3, 1, 1));
            x = convolution(x, in.channels, 1, 1, 1);
            x.tensor = writer_.add("Add", {x.tensor, in.tensor});
            return activated(x);
        }
        case 1: { // inverted bottleneck
            const std::int64_t inner = in.channels * (random_.percent(50) ? 4 : 6);
            Image x = activated(convolution(in, inner, 1, 1, 1));
            x = activated(convolution(x, inner, random_.percent(70) ? 3 : 5, 1, inner));
            if (random_.percent(40))
                x = gated(x);
            x = convolution(x, in.channels, 1, 1, 1);
            x.tensor = writer_.add("Add", {x.tensor, in.tensor});
            return x;
        }
        case 2: { // branches
            const Image a = activated(convolution(in, width(), 1, 1, 1));
            const Image b = activated(convolution(in, width(), 3, 1, 1));
            const TensorId both = writer_.add("Concat", {a.tensor, b.tensor}, {{"axis", std::int64_t{1}}});
            return {both, a.channels + b.channels, in.side};
        }
        case 3: // grouped
            if (in.channels % 32 == 0)
                return activated(convolution(in, in.channels, 3, 1, 32));
            [[fallthrough]];
        default:
            return activated(convolution(in, width(), random_.one_of(kKernels),
                                         in.side > 8 && random_.percent(40) ? 2 : 1, 1));
        }
    }
    std::int64_t width() {
        static constexpr std::int64_t kWidths[] = {8,   16,  24,  32,  48,  64,  96,  100,
                                                   128, 160, 192, 256, 320, 384, 512, 1024};
        return random_.one_of(kWidths);
    }
    TensorId classified(const Image& image) {
        const TensorId mean = writer_.add("GlobalAveragePool", {image.tensor});
        const TensorId flat = writer_.add("Flatten", {mean}, {{"axis", std::int64_t{1}}});
        static constexpr std::int64_t kClasses[] = {2, 10, 100, 1000};
        const std::int64_t classes = random_.one_of(kClasses);
        return writer_.add("Gemm",
                           {flat, writer_.weight({classes, image.channels}), writer_.weight({classes})},
                           {{"transB", std::int64_t{1}}});
    }

  private:
    Writer& writer_;
    RandomSource& random_;
};

/// Tokens of a network: [batch, length, width].
struct Tokens {
    TensorId tensor = kNoTensor;
    std::int64_t length = 0, width = 0;
};

class Transformer {
  public:
    Transformer(Writer& writer, RandomSource& random) : writer_(writer), random_(random) {}

    TensorId linear(TensorId in, std::int64_t from, std::int64_t to) {
        const TensorId product = writer_.add("MatMul", {in, writer_.weight({from, to})});
        return writer_.add("Add", {product, writer_.weight({to})});
    }
    Tokens layer(Tokens x) {
        const std::int64_t heads = std::max<std::int64_t>(1, x.width / (random_.percent(50) ? 64 : 32));
        const TensorId in = normalized(x);
        TensorId scores = writer_.add(
            "MatMul", {heads_of(in, x, heads, {0, 2, 1, 3}), heads_of(in, x, heads, {0, 2, 3, 1})});
        scores = writer_.add("Mul", {scores, writer_.weight({1})});
        const TensorId weights = writer_.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
        TensorId mixed = writer_.add("MatMul", {weights, heads_of(in, x, heads, {0, 2, 1, 3})});
        mixed = writer_.add("Transpose", {mixed}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
        mixed = writer_.add("Reshape", {mixed, writer_.integers({0, x.length, x.width})});
        x.tensor = writer_.add("Add", {x.tensor, linear(mixed, x.width, x.width)});
        const std::int64_t inner = x.width * (random_.percent(50) ? 4 : 2);
        TensorId wide = linear(normalized(x), x.width, inner);
        wide = gelu(wide);
        x.tensor = writer_.add("Add", {x.tensor, linear(wide, inner, x.width)});
        return x;
    }

  private:
    TensorId normalized(const Tokens& x) {
        return writer_.add("LayerNormalization",
                           {x.tensor, writer_.weight({x.width}), writer_.weight({x.width})},
                           {{"axis", std::int64_t{-1}}});
    }
    TensorId heads_of(TensorId in, const Tokens& x, std::int64_t heads, std::vector<std::int64_t> order) {
        const TensorId all = linear(in, x.width, x.width);
        const TensorId split =
            writer_.add("Reshape", {all, writer_.integers({0, x.length, heads, x.width / heads})});
        return writer_.add("Transpose", {split}, {{"perm", std::move(order)}});
    }
    TensorId gelu(TensorId x) {
        if (random_.percent(30))
            return writer_.add("Relu", {x});
        TensorId y = writer_.add("Div", {x, writer_.weight({1})});
        y = writer_.add("Erf", {y});
        y = writer_.add("Add", {y, writer_.weight({1})});
        y = writer_.add("Mul", {x, y});
        return writer_.add("Mul", {y, writer_.weight({1})});
    }
    Writer& writer_;
    RandomSource& random_;
};

constexpr std::int64_t kSides[] = {8, 14, 28, 32, 56, 64, 96, 112, 160, 224, 320};

ImportedGraph convolutional(RandomSource& random) {
    Writer writer;
    Images images(writer, random);
    const std::int64_t side = random.one_of(kSides);
    Image x{writer.input({3, side, side}), 3, side};
    x = images.activated(images.convolution(x, images.width(), random.percent(50) ? 3 : 7,
                                            side > 16 && random.percent(80) ? 2 : 1, 1));
    for (std::size_t blocks = 1 + random.below(8); blocks > 0; --blocks) {
        x = images.block(x);
        if (x.side > 28 || random.percent(25))
            x = images.pooled(x);
    }
    return writer.finish(random.percent(80) ? images.classified(x) : x.tensor);
}

Tokens encoded(Writer& writer, RandomSource& random, Tokens x) {
    Transformer transformer(writer, random);
    for (std::size_t layers = 1 + random.below(4); layers > 0; --layers)
        x = transformer.layer(x);
    return x;
}

constexpr std::int64_t kTokenWidths[] = {64, 128, 192, 256, 384, 512, 768, 1024, 2048};

ImportedGraph transformer(RandomSource& random) {
    Writer writer;
    static constexpr std::int64_t kLengths[] = {1, 7, 16, 32, 50, 64, 128, 197, 256, 512};
    Tokens x{kNoTensor, random.one_of(kLengths), random.one_of(kTokenWidths)};
    x.tensor = writer.input({x.length, x.width});
    return writer.finish(encoded(writer, random, x).tensor);
}

/// Patches of an image, then tokens.
ImportedGraph mixed(RandomSource& random) {
    Writer writer;
    Images images(writer, random);
    static constexpr std::int64_t kPatchedSides[] = {32, 64, 96, 128, 224};
    const std::int64_t side = random.one_of(kPatchedSides);
    Image x{writer.input({3, side, side}), 3, side};
    x = images.activated(images.convolution(x, 32, 3, 2, 1));
    static constexpr std::int64_t kTokens[] = {64, 128, 192, 256, 384};
    x = images.convolution(x, random.one_of(kTokens), 5, 8, 1);
    const std::int64_t length = x.side * x.side;
    TensorId rows = writer.add("Reshape", {x.tensor, writer.integers({0, x.channels, length})});
    rows = writer.add("Transpose", {rows}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
    return writer.finish(encoded(writer, random, {rows, length, x.channels}).tensor);
}

ImportedGraph single(RandomSource& random) {
    Writer writer;
    static constexpr const char* kTypes[] = {"Relu",      "Sigmoid",   "Erf",  "Softmax",
                                             "MaxPool",   "Transpose", "Conv", "Gemm",
                                             "Depthwise", "Add",       "Exp",  "GlobalAveragePool"};
    const std::string type = random.one_of(kTypes);
    Images images(writer, random);
    if (type == "Gemm") {
        const std::int64_t in = random.one_of(kTokenWidths), out = random.one_of(kTokenWidths);
        const TensorId x = writer.input({in});
        return writer.finish(writer.add("Gemm", {x, writer.weight({in, out}), writer.weight({out})}));
    }
    const std::int64_t side = random.one_of(kSides), channels = images.width();
    const Image x{writer.input({channels, side, side}), channels, side};
    if (type == "Conv")
        return writer.finish(images.convolution(x, images.width(), 3, 1, 1).tensor);
    if (type == "Depthwise")
        return writer.finish(images.convolution(x, channels, 3, 1, channels).tensor);
    if (type == "MaxPool")
        return writer.finish(writer.add("MaxPool", {x.tensor}, {{"kernel_shape", pair_of(2)}}));
    if (type == "Transpose")
        return writer.finish(
            writer.add("Transpose", {x.tensor}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}}));
    if (type == "Add")
        return writer.finish(writer.add("Add", {x.tensor, x.tensor}));
    return writer.finish(writer.add(type.c_str(), {x.tensor}));
}

} // namespace

ImportedGraph random_network(RandomSource& random) {
    const std::size_t kind = random.below(20);
    return kind < 10   ? convolutional(random)
           : kind < 14 ? transformer(random)
           : kind < 17 ? mixed(random)
                       : single(random);
}

} // namespace archsim::test
