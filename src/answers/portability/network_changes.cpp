#include "answers/portability/rewrites.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace archsim {

static std::int64_t nearest_multiple(std::int64_t size, std::int64_t multiple) {
    return std::max<std::int64_t>(multiple, (size + multiple / 2) / multiple * multiple);
}

/// Sizes of axes of weights that hold channels.
class ChannelRounding {
  public:
    ChannelRounding(Graph& graph, std::int64_t multiple) : graph_(graph), multiple_(multiple) {
        // Inputs and outputs of the graph stay: channels of inputs, and whatever the last product makes.
        for (TensorId id : graph.inputs)
            keep_sizes(id);
        for (TensorId id : graph.outputs)
            keep_sizes(id);
        for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
            if (has_weights(*node)) {
                const Shape shape = sizes_of(node->inputs[1]);
                kept_.insert(shape[out_axis(*node, shape)]);
                break;
            }
    }

    std::size_t run() {
        for (Node& node : graph_.nodes) {
            if (!has_weights(node))
                continue;
            if (node.op_type == "Conv")
                round_groups(node);
            for (std::size_t i = 1; i < node.inputs.size(); ++i)
                if (node.inputs[i] != kNoTensor)
                    round_weight(node.inputs[i], node.op_type == "Conv" && i == 1 ? 2 : 99);
        }
        for (const Node& node : graph_.nodes)
            if (node.op_type == "BatchNormalization")
                for (std::size_t i = 1; i < node.inputs.size(); ++i)
                    if (node.inputs[i] != kNoTensor)
                        round_weight(node.inputs[i], 1);
        // The file's sizes in between do not hold any more.
        for (Tensor& tensor : graph_.tensors)
            if (tensor.role == TensorRole::intermediate)
                tensor.shape.reset();
        return changed_;
    }

  private:
    static std::size_t out_axis(const Node& node, const Shape& shape) {
        return node.op_type == "Conv" || node.integer("transB", 0) != 0 ? 0 : shape.size() - 1;
    }
    bool has_weights(const Node& node) const {
        if (node.op_type != "Conv" && node.op_type != "Gemm" && node.op_type != "MatMul")
            return false;
        return node.inputs.size() > 1 && node.inputs[1] != kNoTensor &&
               graph_.tensors[node.inputs[1]].role == TensorRole::initializer &&
               !sizes_of(node.inputs[1]).empty();
    }
    Shape sizes_of(TensorId id) const {
        const auto& shape = graph_.tensors[id].shape;
        return shape ? mapped(*shape, &Dimension::value) : Shape();
    }
    void keep_sizes(TensorId id) {
        for (std::int64_t size : sizes_of(id))
            if (size > 0)
                kept_.insert(size);
    }
    std::int64_t rounded(std::int64_t size) const {
        return size <= 1 || kept_.contains(size) ? size : nearest_multiple(size, multiple_);
    }
    void round_groups(Node& node) {
        for (auto& [key, value] : node.attributes)
            if (auto* group = std::get_if<std::int64_t>(&value);
                key == "group" && group != nullptr && *group > 1)
                *group = rounded(*group);
    }
    /// The first `axes` axes: those behind are of the window.
    void round_weight(TensorId id, std::size_t axes) {
        Tensor& tensor = graph_.tensors[id];
        if (tensor.role != TensorRole::initializer || !tensor.shape || !done_.insert(id).second)
            return;
        bool differs = false;
        for (std::size_t axis = 0; axis < std::min(axes, tensor.shape->size()); ++axis) {
            Dimension& dim = (*tensor.shape)[axis];
            const std::int64_t size = rounded(dim.value);
            differs = differs || size != dim.value;
            dim.value = size;
        }
        if (differs) {
            tensor.value = nullptr;
            ++changed_;
        }
    }

    Graph& graph_;
    const std::int64_t multiple_;
    std::set<std::int64_t> kept_;
    std::set<TensorId> done_;
    std::size_t changed_ = 0;
};

/// Operators that may stand between the two: one tensor in, one of the same shape out.
constexpr std::array<std::string_view, 10> kBetween = {
    "BatchNormalization", "Relu", "Clip",    "HardSwish", "LeakyRelu", "Elu",
    "HardSigmoid",        "Tanh", "Sigmoid", "Identity"};

/// Sizes of a weight with four axes; empty for anything else.
static Shape window_weight(const Graph& graph, const Node& node) {
    if (node.op_type != "Conv" || !node.domain.empty() || node.inputs.size() < 2 ||
        node.inputs[1] == kNoTensor)
        return {};
    const Tensor& weight = graph.tensors[node.inputs[1]];
    if (weight.role != TensorRole::initializer || !weight.shape || weight.shape->size() != 4)
        return {};
    return mapped(*weight.shape, &Dimension::value);
}

static bool all_are(const Node& node, std::string_view key, std::int64_t neutral) {
    const AttributeValue* value = node.attribute(key);
    const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(value);
    return list == nullptr || std::ranges::all_of(*list, [&](std::int64_t x) { return x == neutral; });
}

static bool is_depthwise(const Graph& graph, const Node& node) {
    const Shape w = window_weight(graph, node);
    return !w.empty() && w[0] > 1 && node.integer("group", 1) == w[0] && w[1] == 1 && w[2] * w[3] > 1;
}

static bool is_pointwise(const Graph& graph, const Node& node) {
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

static std::vector<WindowPair> pairs_of(const Graph& graph, Pointwise side) {
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
            } else if (contains(kBetween, node.op_type) && !node.inputs.empty()) {
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
static Node dense_convolution(Graph& graph, const WindowPair& pair, Pointwise side) {
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

constexpr std::array<std::string_view, 2> kQueryHeads = {"num_heads", "q_num_heads"};
constexpr std::string_view kSharedHeads = "kv_num_heads";

static bool is_whole(const Tensor& tensor) {
    return tensor.type == DataType::int64 || tensor.type == DataType::int32;
}

/// `from` -> `to` wherever they stand; the number of places.
static std::size_t replace_sizes(std::vector<std::int64_t>& values, const HeadSizes& from,
                                 const HeadSizes& to) {
    std::size_t places = 0;
    for (std::int64_t& value : values)
        if (value == from.heads || value == from.size) {
            value = value == from.heads ? to.heads : to.size;
            ++places;
        }
    return places;
}

/// Attributes of a fused attention. False where its shared heads cannot be divided so.
static bool replace_attributes(Node& node, const HeadSizes& from, const HeadSizes& to, std::size_t& places) {
    for (auto& [key, value] : node.attributes) {
        auto* number = std::get_if<std::int64_t>(&value);
        if (number == nullptr)
            continue;
        if (contains(kQueryHeads, key) && *number == from.heads) {
            *number = to.heads;
            ++places;
        } else if (key == kSharedHeads) {
            if (*number * to.heads % from.heads != 0)
                return false;
            *number = *number * to.heads / from.heads;
        }
    }
    return true;
}

std::pair<std::shared_ptr<const Graph>, std::size_t> with_rounded_channels(const Graph& graph,
                                                                           std::int64_t multiple) {
    auto copy = std::make_shared<Graph>(graph);
    const std::size_t changed = ChannelRounding(*copy, multiple).run();
    if (changed == 0)
        return {nullptr, 0};
    return {std::move(copy), changed};
}

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

std::optional<HeadSizes> head_sizes(const ShapedGraph& graph, double batch) {
    std::optional<HeadSizes> found;
    double most = 0;
    for (const Operator& op : graph.operators) {
        HeadSizes own;
        if (op.work.attention) {
            own = {std::llround(op.work.attention->heads), std::llround(op.work.attention->head_size)};
        } else if (op.work.kind == OpKind::matmul && op.work.contractions.size() == 1) {
            // Queries times keys: as many rows as columns, the size of a head between them.
            const Contraction& c = op.work.contractions.front();
            if (c.weights_constant || c.m != c.n || c.groups < 2 * batch || std::fmod(c.groups, batch) != 0)
                continue;
            own = {std::llround(c.groups / batch), std::llround(c.k)};
        }
        if (own.heads > 0 && own.size > 0 && op.work.macs > most) {
            most = op.work.macs;
            found = own;
        }
    }
    return found;
}

std::pair<std::shared_ptr<const Graph>, std::size_t>
with_head_sizes(const Graph& graph, const HeadSizes& from, const HeadSizes& to) {
    if (from.heads == from.size) // which of the two a number means is open
        return {nullptr, 0};
    auto copy = std::make_shared<Graph>(graph);
    std::size_t places = 0;
    for (Node& node : copy->nodes)
        if (!replace_attributes(node, from, to, places))
            return {nullptr, 0};
    // Only what shapes are made of: weights that are looked up by index are none.
    std::vector<bool> decides_shape(graph.tensors.size());
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        const bool reshapes = (node->op_type == "Reshape" || node->op_type == "Expand") &&
                              node->inputs.size() > 1 && node->inputs[1] != kNoTensor;
        if (reshapes)
            decides_shape[node->inputs[1]] = true;
        const bool feeds = std::ranges::any_of(
            node->outputs, [&](TensorId id) { return id != kNoTensor && decides_shape[id]; });
        constexpr std::array<std::string_view, 8> kArithmetic = {
            "Concat", "Unsqueeze", "Mul", "Div", "Cast", "Squeeze", "Reshape", "Identity"};
        if (feeds && contains(kArithmetic, node->op_type))
            for (TensorId id : node->inputs)
                if (id != kNoTensor)
                    decides_shape[id] = true;
    }
    for (TensorId id = 0; id < copy->tensors.size(); ++id) {
        Tensor& tensor = copy->tensors[id];
        if (!decides_shape[id] || !is_whole(tensor) || !tensor.value)
            continue;
        Constant changed = *tensor.value;
        if (const std::size_t here = replace_sizes(changed.ints, from, to)) {
            places += here;
            tensor.value = std::make_shared<const Constant>(std::move(changed));
        }
    }
    if (places == 0)
        return {nullptr, 0};
    // The file's sizes in between do not hold any more.
    for (Tensor& tensor : copy->tensors)
        if (tensor.role == TensorRole::intermediate)
            tensor.shape.reset();
    return {std::move(copy), places};
}

bool keeps_work(const ShapedGraph& before, const ShapedGraph& after, const HeadSizes& heads, double batch) {
    if (after.outputs.size() != before.outputs.size() || head_sizes(after, batch) != heads)
        return false;
    for (std::size_t i = 0; i < after.outputs.size(); ++i)
        if (after.tensors[after.outputs[i]].shape != before.tensors[before.outputs[i]].shape)
            return false;
    return std::abs(after.macs() - before.macs()) <= 1e-9 * before.macs();
}

} // namespace archsim
