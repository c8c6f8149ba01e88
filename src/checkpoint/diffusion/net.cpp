#include "checkpoint/diffusion/net.hpp"

#include <limits>

namespace archsim::checkpoint {

constexpr double kNormEpsilon = 1e-6; // no cost depends on it

TensorId Net::convolution(const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                          Kernel kernel) {
    const std::int64_t pad = kernel.stride == kernel.size ? 0 : kernel.size / 2; // patches lie side by side
    std::vector<TensorId> inputs{
        x, weight(path, "weight", {n_out, n_in / kernel.groups, kernel.size, kernel.size}, true)};
    if (kernel.bias)
        inputs.push_back(weight(path, "bias", {n_out}));
    return node("Conv", path, std::move(inputs),
                {{"kernel_shape", std::vector<std::int64_t>{kernel.size, kernel.size}},
                 {"strides", std::vector<std::int64_t>{kernel.stride, kernel.stride}},
                 {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                 {"group", kernel.groups}});
}

TensorId Net::group_norm(const std::string& path, TensorId x, std::int64_t channels, std::int64_t groups) {
    return node("GroupNormalization", path,
                {x, weight(path, "weight", {channels}), weight(path, "bias", {channels})},
                {{"num_groups", groups}, {"epsilon", kNormEpsilon}});
}

TensorId Net::layer_norm(const std::string& path, TensorId x, std::int64_t width, bool learned) {
    std::vector<TensorId> inputs{x};
    if (learned) {
        inputs.push_back(weight(path, "weight", {width}));
        inputs.push_back(weight(path, "bias", {width}));
    } else {
        inputs.push_back(buffer(path + "/ones", {width}));
    }
    return node("LayerNormalization", path, std::move(inputs),
                {{"axis", std::int64_t{-1}}, {"epsilon", kNormEpsilon}, {"stash_type", std::int64_t{1}}});
}

TensorId Net::silu(const std::string& path, TensorId x) {
    return node("Silu", path, {x}, {}, kMicrosoft);
}

TensorId Net::gelu(const std::string& path, TensorId x) {
    return node("Gelu", path, {x}, {}, kMicrosoft);
}

TensorId Net::add(const std::string& path, TensorId a, TensorId b) {
    return node("Add", path, {a, b});
}

TensorId Net::multiply(const std::string& path, TensorId a, TensorId b) {
    return node("Mul", path, {a, b});
}

TensorId Net::embed(const std::string& path, TensorId ids, std::int64_t rows, std::int64_t width) {
    return node("Gather", path, {weight(path, "weight", {rows, width}, true), ids},
                {{"axis", std::int64_t{0}}});
}

TensorId Net::reshape(const std::string& path, TensorId x, std::vector<std::int64_t> sizes) {
    return node("Reshape", path, {x, ints(std::move(sizes))});
}

TensorId Net::transpose(const std::string& path, TensorId x, std::vector<std::int64_t> order) {
    return node("Transpose", path, {x}, {{"perm", std::move(order)}});
}

TensorId Net::concatenate(const std::string& path, std::vector<TensorId> parts, std::int64_t axis) {
    return node("Concat", path, std::move(parts), {{"axis", axis}});
}

std::vector<TensorId> Net::split(const std::string& path, TensorId x, std::size_t pieces, std::int64_t axis) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pieces; ++i)
        names.push_back("/" + path + "/Split_output_" + std::to_string(i));
    return nodes("Split", path, {x}, names,
                 {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(pieces)}});
}

TensorId Net::enlarge(const std::string& path, TensorId x, std::size_t rank) {
    std::vector<double> scales(rank, 1.0);
    scales[rank - 1] = scales[rank - 2] = 2.0;
    const TensorId by = node("Constant", path + "/scales", {}, {{"value_floats", std::move(scales)}});
    return node("Resize", path, {x, kNoTensor, by},
                {{"mode", std::string("nearest")},
                 {"coordinate_transformation_mode", std::string("asymmetric")},
                 {"nearest_mode", std::string("floor")}});
}

TensorId Net::perceptron(const std::string& first, const std::string& second, TensorId x, std::int64_t n_in,
                         std::int64_t inner, std::int64_t n_out, std::string_view activation) {
    const TensorId y = linear(first, x, n_in, inner, true);
    return linear(second, activation == "silu" ? silu(first, y) : gelu(first, y), inner, n_out, true);
}

TensorId Net::attention(const std::string& path, TensorId q, TensorId k, TensorId v, std::int64_t heads,
                        bool causal) {
    Attributes attributes{{"num_heads", heads}};
    if (causal)
        attributes.emplace_back("unidirectional", std::int64_t{1});
    return node("MultiHeadAttention", path, {q, k, v}, std::move(attributes), kMicrosoft);
}

TensorId Net::with_others(const std::string& path, TensorId x, std::int64_t width,
                          const std::string& others) {
    if (divided_.empty())
        return x;
    if (!others_.contains(others))
        others_[others] = given(others, {divided_, others, width});
    return concatenate(path + "/others", {x, others_[others]}, 1);
}

TensorId Net::exchanged(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size) {
    if (divided_.empty())
        return x;
    const std::string at = path + std::string(kExchange);
    x = transpose(at, reshape(at, x, {0, 0, heads, size}), {2, 1, 0, 3});
    return reshape(at, transpose(at, reshape(at, x, {0, 0, 0, 0}), {2, 1, 0, 3}), {0, 0, heads * size});
}

TensorId Net::biased_attention(const std::string& path, TensorId q, TensorId k, TensorId v,
                               std::int64_t heads, std::int64_t size, TensorId bias) {
    const auto split_heads = [&](TensorId x, std::vector<std::int64_t> order) {
        return transpose(path, reshape(path, x, {0, 0, heads, size}), std::move(order));
    };
    TensorId scores = node("MatMul", path, {split_heads(q, {0, 2, 1, 3}), split_heads(k, {0, 2, 3, 1})});
    scores = node("Softmax", path, {add(path, scores, bias)}, {{"axis", std::int64_t{-1}}});
    const TensorId y = node("MatMul", path, {scores, split_heads(v, {0, 2, 1, 3})});
    return reshape(path, transpose(path, y, {0, 2, 1, 3}), {0, 0, heads * size});
}

TensorId Net::wide(TensorId x) {
    constexpr double kBits = 32;
    store(x, kBits);
    return x;
}

TensorId Net::cast(const std::string& path, TensorId x, DataType to) {
    return node("Cast", path, {x}, {{"to", static_cast<std::int64_t>(to)}});
}

TensorId Net::composed_norm(const std::string& path, TensorId x, std::int64_t width) {
    const TensorId exact = wide(cast(path, x, DataType::float32));
    const TensorId squares = wide(multiply(path + "/square", exact, exact));
    const TensorId mean =
        wide(node("ReduceMean", path, {squares, ints({-1})}, {{"keepdims", std::int64_t{1}}}));
    const TensorId scale = wide(node("Reciprocal", path, {wide(node("Sqrt", path, {mean}))}));
    const TensorId y =
        cast(path + "/back", wide(multiply(path + "/scaled", x, scale)), type()); // narrow times wide
    return multiply(path, y, weight(path, "weight", {width}));
}

TensorId Net::norm_heads(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size) {
    x = reshape(path, x, {0, 0, heads, size});
    return reshape(path, composed_norm(path, x, size), {0, 0, heads * size});
}

TensorId Net::rotate(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size,
                     const std::string& tokens) {
    auto known = std::ranges::find(tables_, tokens, &Table::tokens);
    if (known == tables_.end()) {
        const std::string number = tables_.empty() ? "" : "_" + std::to_string(tables_.size() + 1);
        const TensorId cosine = input("rotary_cos" + number, DataType::float32, {tokens, 1, size}),
                       sine = input("rotary_sin" + number, DataType::float32, {tokens, 1, size});
        known = tables_.insert(tables_.end(), {tokens, cosine, sine});
    }
    x = reshape(path, x, {0, 0, heads, size});
    const std::vector<TensorId> halves = split(path, x, 2);
    const TensorId turned = concatenate(path, {node("Neg", path, {halves[1]}), halves[0]}, -1);
    const auto times = [&](const char* name, TensorId of, TensorId by) {
        return wide(multiply(path + name, wide(cast(path + name, of, DataType::float32)), by));
    };
    x = wide(add(path, times("/cos", x, known->cosine), times("/sin", turned, known->sine)));
    return reshape(path, cast(path + "/back", x, type()), {0, 0, heads * size});
}

TensorId Net::first_tokens(const std::string& path, TensorId x, TensorId of) {
    const TensorId count = node("Shape", path, {of}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    return node("Slice", path, {x, ints({0}), count, ints({1})});
}

TensorId Net::other_tokens(const std::string& path, TensorId x, TensorId of) {
    const TensorId count = node("Shape", path, {of}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    return node("Slice", path, {x, count, ints({std::numeric_limits<std::int64_t>::max()}), ints({1})});
}

TensorId Net::modulate(const std::string& path, TensorId x, TensorId shift, TensorId scale) {
    return add(path, multiply(path, x, scale), shift);
}

TensorId Net::gated(const std::string& path, TensorId residual, TensorId gate, TensorId x) {
    return add(path, residual, multiply(path, gate, x));
}

std::vector<TensorId> Net::modulation(const std::string& path, TensorId conditioning, std::int64_t width,
                                      std::size_t pieces) {
    const auto count = static_cast<std::int64_t>(pieces);
    return split(path, linear(path, silu(path, conditioning), width, count * width, true), pieces);
}

TensorId Net::tokens(const std::string& path, TensorId x, std::int64_t channels) {
    return transpose(path, reshape(path, x, {0, channels, -1}), {0, 2, 1});
}

TensorId Net::time_embedding(const std::string& path, const Axis& batch, std::int64_t channels,
                             std::int64_t width, const std::string& name) {
    const TensorId waves = given(name, {batch, 1, channels});
    return perceptron(path + "/linear_1", path + "/linear_2", waves, channels, width, width, "silu");
}

} // namespace archsim::checkpoint
