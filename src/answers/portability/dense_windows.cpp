#include "answers/portability/rewrites.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace archsim {

namespace {

/// What may stand between the two: one tensor in, one of the same shape out.
constexpr std::array<std::string_view, 10> kBetween = {
    "BatchNormalization", "Relu", "Clip",    "HardSwish", "LeakyRelu", "Elu",
    "HardSigmoid",        "Tanh", "Sigmoid", "Identity"};

/// Sizes of a weight with four axes; empty for anything else.
Shape window_weight(const Graph& graph, const Node& node) {
    if (node.op_type != "Conv" || !node.domain.empty() || node.inputs.size() < 2 ||
        node.inputs[1] == kNoTensor)
        return {};
    const Tensor& weight = graph.tensors[node.inputs[1]];
    Shape sizes;
    if (weight.role != TensorRole::initializer || !weight.shape || weight.shape->size() != 4)
        return {};
    for (const Dimension& dim : *weight.shape)
        sizes.push_back(dim.value);
    return sizes;
}

bool all_are(const Node& node, std::string_view key, std::int64_t neutral) {
    const AttributeValue* value = node.attribute(key);
    const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(value);
    return list == nullptr ||
           std::all_of(list->begin(), list->end(), [&](std::int64_t x) { return x == neutral; });
}

bool is_depthwise(const Graph& graph, const Node& node) {
    const Shape w = window_weight(graph, node);
    return !w.empty() && w[0] > 1 && node.integer("group", 1) == w[0] && w[1] == 1 && w[2] * w[3] > 1;
}

bool is_pointwise(const Graph& graph, const Node& node) {
    const Shape w = window_weight(graph, node);
    return !w.empty() && node.integer("group", 1) == 1 && w[2] * w[3] == 1 && all_are(node, "strides", 1) &&
           all_are(node, "pads", 0);
}

/// Two convolutions, the second of which reads nothing but what the first makes.
struct WindowPair {
    std::size_t first = 0, second = 0; ///< nodes
    std::vector<std::size_t> between;
    std::int64_t channels = 0; ///< of the depthwise one
};

std::vector<WindowPair> pairs_of(const Graph& graph, Pointwise side) {
    constexpr auto kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> producer(graph.tensors.size(), kNone), readers(graph.tensors.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (TensorId id : graph.nodes[i].outputs)
            if (id != kNoTensor)
                producer[id] = i;
        for (TensorId id : graph.nodes[i].inputs)
            if (id != kNoTensor)
                ++readers[id];
    }
    for (TensorId id : graph.outputs)
        ++readers[id];
    std::vector<WindowPair> pairs;
    std::vector<bool> taken(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& second = graph.nodes[i];
        if (!(side == Pointwise::after ? is_pointwise(graph, second) : is_depthwise(graph, second)))
            continue;
        WindowPair pair{.first = kNone, .second = i, .between = {}};
        TensorId data = second.inputs.empty() ? kNoTensor : second.inputs.front();
        while (pair.first == kNone && data != kNoTensor && producer[data] != kNone && readers[data] == 1) {
            const std::size_t at = producer[data];
            const Node& node = graph.nodes[at];
            if (side == Pointwise::after ? is_depthwise(graph, node) : is_pointwise(graph, node)) {
                pair.first = at;
            } else if (std::find(kBetween.begin(), kBetween.end(), node.op_type) != kBetween.end() &&
                       !node.inputs.empty()) {
                pair.between.push_back(at);
                data = node.inputs.front();
            } else {
                break;
            }
        }
        if (pair.first == kNone || taken[pair.first] || taken[i])
            continue;
        taken[pair.first] = taken[i] = true;
        pair.channels = window_weight(graph, graph.nodes[side == Pointwise::after ? pair.first : i])[0];
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

/// The second of the pair, reading what the first read through the depthwise window.
Node dense_convolution(Graph& graph, const WindowPair& pair, Pointwise side) {
    const Node &first = graph.nodes[pair.first], &second = graph.nodes[pair.second];
    const Shape in = window_weight(graph, first), out = window_weight(graph, second);
    const Shape& window = side == Pointwise::after ? in : out;
    const std::int64_t input_channels = side == Pointwise::after ? in[0] : in[1];
    Node dense = side == Pointwise::after ? first : second;
    dense.name = second.name;
    dense.inputs = second.inputs;
    dense.inputs[0] = first.inputs[0];
    dense.outputs = second.outputs;
    std::erase_if(dense.attributes, [](const auto& attribute) { return attribute.first == "group"; });
    Tensor weight = graph.tensors[second.inputs[1]];
    weight.name += "/dense";
    weight.value = nullptr;
    weight.shape.emplace();
    for (const std::int64_t size : {out[0], input_channels, window[2], window[3]})
        weight.shape->push_back({size, ""});
    graph.tensors.push_back(std::move(weight));
    dense.inputs[1] = static_cast<TensorId>(graph.tensors.size() - 1);
    return dense;
}

} // namespace

std::set<std::int64_t> separable_channels(const Graph& graph, Pointwise side) {
    std::set<std::int64_t> channels;
    for (const WindowPair& pair : pairs_of(graph, side))
        channels.insert(pair.channels);
    return channels;
}

std::pair<std::shared_ptr<const Graph>, std::size_t> with_dense_windows(const Graph& graph, Pointwise side,
                                                                        std::int64_t channels) {
    auto copy = std::make_shared<Graph>(graph);
    std::vector<bool> gone(graph.nodes.size());
    std::size_t places = 0;
    for (const WindowPair& pair : pairs_of(graph, side)) {
        if (pair.channels > channels)
            continue;
        copy->nodes[pair.second] = dense_convolution(*copy, pair, side);
        gone[pair.first] = true;
        for (const std::size_t between : pair.between)
            gone[between] = true;
        ++places;
    }
    if (places == 0)
        return {nullptr, 0};
    std::vector<Node> kept;
    for (std::size_t i = 0; i < copy->nodes.size(); ++i)
        if (!gone[i])
            kept.push_back(std::move(copy->nodes[i]));
    copy->nodes = std::move(kept);
    return {std::move(copy), places};
}

} // namespace archsim
