// Replaces nodes of an imported graph by others, in topological order.

#include "answers/portability/rewrites.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace archsim {

/// Nodes that stand in for one.
class Replacement {
  public:
    Replacement(Graph& graph, const Node& node) : graph_(graph), node_(node) {}

    /// Adds a node of ai.onnx with one new result.
    TensorId add(std::string_view type, std::vector<TensorId> inputs,
                 std::vector<std::pair<std::string, AttributeValue>> attributes = {}) {
        return place(type, std::move(inputs), std::move(attributes), fresh());
    }
    /// The same; its result is the first of the node that is replaced.
    void finish(std::string_view type, std::vector<TensorId> inputs,
                std::vector<std::pair<std::string, AttributeValue>> attributes = {}) {
        place(type, std::move(inputs), std::move(attributes), node_.outputs.front());
    }
    /// A constant of one value, of the type of `like`.
    TensorId scalar(double value, TensorId like) {
        Constant constant;
        constant.type =
            graph_.tensors[like].type == DataType::undefined ? DataType::float32 : graph_.tensors[like].type;
        constant.reals = {value};
        Tensor tensor;
        tensor.name = name();
        tensor.type = constant.type;
        tensor.role = TensorRole::initializer;
        tensor.shape.emplace();
        tensor.value = std::make_shared<const Constant>(std::move(constant));
        tensor.buffer = true;
        graph_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(graph_.tensors.size() - 1);
    }
    const std::vector<Node>& nodes() const { return nodes_; }

  private:
    std::string name() { return node_.name + "/rewritten_" + std::to_string(graph_.tensors.size()); }
    TensorId fresh() {
        Tensor tensor;
        tensor.name = name();
        graph_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(graph_.tensors.size() - 1);
    }
    TensorId place(std::string_view type, std::vector<TensorId> inputs,
                   std::vector<std::pair<std::string, AttributeValue>> attributes, TensorId output) {
        constexpr int kOpset = 14; // reductions take their axes as an attribute, HardSwish exists
        nodes_.push_back(
            {.name = nodes_.empty() ? node_.name : node_.name + "/" + std::to_string(nodes_.size()),
             .op_type = std::string(type),
             .opset = kOpset,
             .inputs = std::move(inputs),
             .outputs = {output},
             .attributes = std::move(attributes)});
        return output;
    }

    Graph& graph_;
    const Node& node_;
    std::vector<Node> nodes_;
};

/// Calls `replace(node, replacement)` for every node; those for which it added nodes give way to them.
template <class Replace>
static std::size_t replace_nodes(Graph& graph, Replace&& replace) {
    std::vector<Node> out;
    out.reserve(graph.nodes.size());
    std::size_t places = 0;
    const std::vector<Node> nodes = std::move(graph.nodes);
    for (const Node& node : nodes) {
        if (node.outputs.empty() ||
            node.outputs.front() == kNoTensor) { // nothing that a replacement would make
            out.push_back(node);
            continue;
        }
        Replacement replacement(graph, node);
        replace(node, replacement);
        if (replacement.nodes().empty()) {
            out.push_back(node);
            continue;
        }
        out.insert(out.end(), replacement.nodes().begin(), replacement.nodes().end());
        ++places;
    }
    graph.nodes = std::move(out);
    return places;
}

static bool is(const Node& node, std::string_view type) {
    return node.op_type == type && (node.domain.empty() || node.domain == "com.microsoft");
}

static bool has_input(const Node& node, std::size_t i) {
    return i < node.inputs.size() && node.inputs[i] != kNoTensor;
}

static std::string word(const Node& node, std::string_view key) {
    const AttributeValue* value = node.attribute(key);
    const auto* found = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return found == nullptr ? std::string() : *found;
}

/// Node that makes each tensor; the number of readers of each.
struct Uses {
    std::vector<const Node*> producer;
    std::vector<std::size_t> readers;
    explicit Uses(const Graph& graph) : producer(graph.tensors.size()), readers(graph.tensors.size()) {
        for (const Node& node : graph.nodes) {
            for (TensorId id : node.outputs)
                if (id != kNoTensor)
                    producer[id] = &node;
            for (TensorId id : node.inputs)
                if (id != kNoTensor)
                    ++readers[id];
        }
        for (TensorId id : graph.outputs)
            ++readers[id];
    }
};

/// x * sigmoid(x) -> hard-swish. The Sigmoid stays where others read it.
static std::size_t silu_as_hard_swish(Graph& graph) {
    const Graph before = graph;
    const Uses uses(before);
    std::vector<bool> gone(before.tensors.size());
    const std::size_t places = replace_nodes(graph, [&](const Node& node, Replacement& out) {
        if (!is(node, "Mul") || node.inputs.size() != 2)
            return;
        for (std::size_t side = 0; side < 2; ++side) {
            const TensorId gate = node.inputs[side], x = node.inputs[1 - side];
            const Node* sigmoid = gate == kNoTensor ? nullptr : uses.producer[gate];
            if (sigmoid == nullptr || !is(*sigmoid, "Sigmoid") || !has_input(*sigmoid, 0) ||
                sigmoid->inputs.front() != x)
                continue;
            if (uses.readers[gate] == 1)
                gone[gate] = true;
            out.finish("HardSwish", {x});
            return;
        }
    });
    std::erase_if(graph.nodes, [&](const Node& node) {
        return node.outputs.size() == 1 && node.outputs.front() < gone.size() && gone[node.outputs.front()];
    });
    return places;
}

/// gelu(x) ~ x * sigmoid(1.702 x)
static std::size_t gelu_as_sigmoid(Graph& graph) {
    return replace_nodes(graph, [](const Node& node, Replacement& out) {
        if ((!is(node, "Gelu") && !is(node, "FastGelu") && !is(node, "QuickGelu")) || !has_input(node, 0))
            return;
        TensorId x = node.inputs.front();
        if (node.inputs.size() > 1 && node.inputs[1] != kNoTensor)
            x = out.add("Add", {x, node.inputs[1]});
        const TensorId scaled = out.add("Mul", {x, out.scalar(1.702, x)});
        out.finish("Mul", {x, out.add("Sigmoid", {scaled})});
    });
}

/// erf(x) ~ tanh(1.2 x); the factor goes into the product that exporters put before Erf, so it costs nothing.
static std::size_t erf_as_tanh(Graph& graph) {
    return replace_nodes(graph, [](const Node& node, Replacement& out) {
        if (is(node, "Erf") && has_input(node, 0))
            out.finish("Tanh", {node.inputs.front()});
    });
}

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias
static std::size_t layer_norm_as_primitives(Graph& graph) {
    return replace_nodes(graph, [](const Node& node, Replacement& out) {
        if (!is(node, "LayerNormalization") || !has_input(node, 0) || !has_input(node, 1) ||
            node.integer("axis", -1) != -1)
            return;
        for (std::size_t more = 1; more < node.outputs.size(); ++more)
            if (node.outputs[more] != kNoTensor) // mean and deviation are read elsewhere
                return;
        const TensorId x = node.inputs[0];
        const auto mean = [&](TensorId of) {
            return out.add("ReduceMean", {of},
                           {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
        };
        const TensorId centred = out.add("Sub", {x, mean(x)});
        const TensorId variance = mean(out.add("Mul", {centred, centred}));
        const TensorId deviation = out.add("Sqrt", {out.add("Add", {variance, out.scalar(1e-5, x)})});
        // A product with the inverse root, as TensorFlow writes it: lists of operators name that.
        const TensorId normal = out.add("Mul", {centred, out.add("Reciprocal", {deviation})});
        if (node.inputs.size() > 2 && node.inputs[2] != kNoTensor) // a bias
            out.finish("Add", {out.add("Mul", {normal, node.inputs[1]}), node.inputs[2]});
        else
            out.finish("Mul", {normal, node.inputs[1]});
    });
}

/// Equations of two operands that are products of matrices in their last two axes.
static std::size_t einsum_as_matmul(Graph& graph) {
    return replace_nodes(graph, [](const Node& node, Replacement& out) {
        if (!is(node, "Einsum") || node.inputs.size() != 2 || !has_input(node, 0) || !has_input(node, 1))
            return;
        std::string equation = word(node, "equation");
        std::erase(equation, ' ');
        const auto comma = equation.find(','), arrow = equation.find("->");
        if (comma == std::string::npos || arrow == std::string::npos || comma > arrow ||
            equation.find('.') != std::string::npos)
            return;
        const std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow - comma - 1),
                          c = equation.substr(arrow + 2);
        if (a.size() < 2 || a.size() != b.size() || a.size() != c.size())
            return;
        const std::size_t rank = a.size(), batch = rank - 2;
        const auto head = [&](const std::string& text) { return text.substr(0, batch); };
        const std::string tail_a = a.substr(batch), tail_b = b.substr(batch), tail_c = c.substr(batch);
        if (head(a) != head(b) || head(a) != head(c) || tail_a[0] != tail_c[0])
            return;
        if (tail_a[1] == tail_b[0] && tail_b[1] == tail_c[1]) {
            out.finish("MatMul", {node.inputs[0], node.inputs[1]});
            return;
        }
        if (tail_a[1] != tail_b[1] || tail_b[0] != tail_c[1])
            return;
        std::vector<std::int64_t> order(rank);
        for (std::size_t i = 0; i < rank; ++i)
            order[i] = static_cast<std::int64_t>(i);
        std::swap(order[rank - 1], order[rank - 2]);
        out.finish("MatMul", {node.inputs[0], out.add("Transpose", {node.inputs[1]}, {{"perm", order}})});
    });
}

/// condition ? x : y -> c * x + (1 - c) * y
static std::size_t where_as_arithmetic(Graph& graph) {
    return replace_nodes(graph, [&](const Node& node, Replacement& out) {
        if (!is(node, "Where") || !has_input(node, 0) || !has_input(node, 1) || !has_input(node, 2))
            return;
        const DataType type = graph.tensors[node.inputs[1]].type;
        if (type != DataType::undefined && !is_floating(type))
            return;
        const DataType mask = type == DataType::undefined ? DataType::float32 : type;
        const TensorId condition =
            out.add("Cast", {node.inputs[0]}, {{"to", static_cast<std::int64_t>(mask)}});
        const TensorId inverse = out.add("Sub", {out.scalar(1, node.inputs[1]), condition});
        out.finish("Add",
                   {out.add("Mul", {condition, node.inputs[1]}), out.add("Mul", {inverse, node.inputs[2]})});
    });
}

static std::size_t resize_as_nearest(Graph& graph) {
    std::size_t places = 0;
    for (Node& node : graph.nodes) {
        if (!is(node, "Resize") || (word(node, "mode") != "linear" && word(node, "mode") != "cubic"))
            continue;
        for (auto& [key, value] : node.attributes)
            if (key == "mode")
                value = std::string("nearest");
        ++places;
    }
    return places;
}

/// Selections of boxes and everything behind them leave the graph; what they read becomes its result.
static std::size_t cut_post_processing(Graph& graph) {
    std::vector<bool> behind(graph.tensors.size());
    std::vector<TensorId> cut;
    std::vector<Node> kept;
    std::size_t places = 0;
    for (const Node& node : graph.nodes) {
        const bool selects = is(node, "NonMaxSuppression") || is(node, "TopK");
        const bool reads =
            std::ranges::any_of(node.inputs, [&](TensorId id) { return id != kNoTensor && behind[id]; });
        if (!selects && !reads) {
            kept.push_back(node);
            continue;
        }
        places += selects ? 1 : 0;
        for (TensorId id : node.outputs)
            if (id != kNoTensor)
                behind[id] = true;
        for (TensorId id : node.inputs)
            if (id != kNoTensor && !behind[id] && graph.tensors[id].role == TensorRole::intermediate)
                cut.push_back(id);
    }
    if (places == 0 || kept.empty())
        return 0;
    std::vector<TensorId> outputs = archsim::kept(graph.outputs, [&](TensorId id) { return !behind[id]; });
    for (TensorId id : cut)
        if (!contains(outputs, id))
            outputs.push_back(id);
    if (outputs.empty())
        return 0;
    graph.nodes = std::move(kept);
    graph.outputs = std::move(outputs);
    return places;
}

constexpr std::array kRewrites = {
    Rewrite{"layer_norm_as_primitives", "LayerNormalization as means, products and a root", "the same values",
            layer_norm_as_primitives},
    Rewrite{"gelu_as_sigmoid", "GELU as x sigmoid(1.702 x)", "an approximation: within 0.02 of GELU",
            gelu_as_sigmoid},
    Rewrite{"erf_as_tanh", "Erf as tanh", "an approximation: check the accuracy, or train on", erf_as_tanh},
    Rewrite{"silu_as_hard_swish", "SiLU as hard-swish", "another activation: train on", silu_as_hard_swish},
    Rewrite{"einsum_as_matmul", "Einsum as MatMul", "the same values", einsum_as_matmul},
    Rewrite{"where_as_arithmetic", "Where as products with the mask", "the same values where they are finite",
            where_as_arithmetic},
    Rewrite{"resize_as_nearest", "Resize to the nearest neighbour", "another interpolation: train on",
            resize_as_nearest},
    Rewrite{"cut_post_processing", "Selection of boxes after the model",
            "the application selects: its time is not counted any more", cut_post_processing},
};

constexpr int kQdqOpset = 13;

static bool multiplies_weights(const Graph& graph, const Node& node) {
    return node.domain.empty() &&
           (node.op_type == "Conv" || node.op_type == "Gemm" || node.op_type == "MatMul") &&
           node.inputs.size() > 1 && node.inputs[0] != kNoTensor && node.inputs[1] != kNoTensor &&
           graph.tensors[node.inputs[0]].role != TensorRole::initializer &&
           graph.tensors[node.inputs[1]].role == TensorRole::initializer &&
           graph.tensors[node.inputs[1]].shape.has_value();
}

/// Puts pairs of QuantizeLinear and DequantizeLinear before nodes; a tensor is quantised once.
class QdqWriter {
  public:
    explicit QdqWriter(Graph& graph) : graph_(graph) {
        Constant one{.type = DataType::float32, .shape = {}, .ints = {}, .reals = {1}, .strings = {}};
        scale_ = add_constant("scale", std::move(one));
        Constant zero{.type = DataType::int8, .shape = {}, .ints = {0}, .reals = {}, .strings = {}};
        zero_ = add_constant("zero_point", std::move(zero));
    }

    TensorId activation(TensorId id, std::vector<Node>& nodes) {
        const auto [known, is_new] = done_.try_emplace(id);
        if (is_new) {
            const TensorId packed = add_tensor(graph_.tensors[id].name + "/int8", DataType::int8);
            known->second = add_tensor(graph_.tensors[id].name + "/dequantized", graph_.tensors[id].type);
            nodes.push_back(node_of("QuantizeLinear", id, packed));
            nodes.push_back(node_of("DequantizeLinear", packed, known->second));
        }
        return known->second;
    }

    TensorId weight(TensorId id, std::vector<Node>& nodes) {
        const auto [known, is_new] = done_.try_emplace(id);
        if (is_new) {
            Tensor packed = graph_.tensors[id];
            packed.name += "/int8";
            packed.type = DataType::int8;
            packed.value = nullptr;
            graph_.tensors.push_back(std::move(packed));
            const auto at = static_cast<TensorId>(graph_.tensors.size() - 1);
            known->second = add_tensor(graph_.tensors[id].name + "/dequantized", graph_.tensors[id].type);
            nodes.push_back(node_of("DequantizeLinear", at, known->second));
        }
        return known->second;
    }

  private:
    TensorId add_tensor(std::string name, DataType type) {
        graph_.tensors.push_back({.name = std::move(name), .type = type});
        return static_cast<TensorId>(graph_.tensors.size() - 1);
    }
    TensorId add_constant(std::string_view name, Constant constant) {
        const TensorId id = add_tensor("quantized_block/" + std::string(name), constant.type);
        Tensor& tensor = graph_.tensors[id];
        tensor.role = TensorRole::initializer;
        tensor.shape.emplace();
        tensor.value = std::make_shared<const Constant>(std::move(constant));
        tensor.buffer = true;
        return id;
    }
    Node node_of(std::string_view type, TensorId from, TensorId to) const {
        return {.name = graph_.tensors[to].name,
                .op_type = std::string(type),
                .opset = kQdqOpset,
                .inputs = {from, scale_, zero_},
                .outputs = {to}};
    }

    Graph& graph_;
    TensorId scale_ = kNoTensor, zero_ = kNoTensor;
    std::map<TensorId, TensorId> done_; ///< what stands in for each
};

std::span<const Rewrite> known_rewrites() {
    return kRewrites;
}

std::pair<std::shared_ptr<const Graph>, std::size_t> rewritten(const Graph& graph, const Rewrite& rewrite) {
    auto copy = std::make_shared<Graph>(graph);
    const std::size_t places = rewrite.apply(*copy);
    if (places == 0)
        return {nullptr, 0};
    return {std::move(copy), places};
}

std::pair<std::shared_ptr<const Graph>, std::size_t>
with_quantized_nodes(const Graph& graph, const std::set<std::string>& names) {
    auto copy = std::make_shared<Graph>(graph);
    QdqWriter writer(*copy);
    std::vector<Node> nodes;
    std::size_t places = 0;
    for (const Node& node : graph.nodes) {
        Node kept = node;
        if (names.contains(node.name) && multiplies_weights(graph, node)) {
            kept.inputs[0] = writer.activation(node.inputs[0], nodes);
            kept.inputs[1] = writer.weight(node.inputs[1], nodes);
            ++places;
        }
        nodes.push_back(std::move(kept));
    }
    if (places == 0)
        return {nullptr, 0};
    copy->nodes = std::move(nodes);
    return {std::move(copy), places};
}

} // namespace archsim
