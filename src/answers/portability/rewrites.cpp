#include "answers/portability/rewrites.hpp"

#include "answers/portability/graph_editor.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

bool is(const Node& node, std::string_view type) {
    return node.op_type == type && (node.domain.empty() || node.domain == "com.microsoft");
}

bool has_input(const Node& node, std::size_t i) {
    return i < node.inputs.size() && node.inputs[i] != kNoTensor;
}

std::string word(const Node& node, std::string_view key) {
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
std::size_t silu_as_hard_swish(Graph& graph) {
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
std::size_t gelu_as_sigmoid(Graph& graph) {
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
std::size_t erf_as_tanh(Graph& graph) {
    return replace_nodes(graph, [](const Node& node, Replacement& out) {
        if (is(node, "Erf") && has_input(node, 0))
            out.finish("Tanh", {node.inputs.front()});
    });
}

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias
std::size_t layer_norm_as_primitives(Graph& graph) {
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
        const bool biased = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
        if (biased)
            out.finish("Add", {out.add("Mul", {normal, node.inputs[1]}), node.inputs[2]});
        else
            out.finish("Mul", {normal, node.inputs[1]});
    });
}

/// Equations of two operands that are products of matrices in their last two axes.
std::size_t einsum_as_matmul(Graph& graph) {
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
std::size_t where_as_arithmetic(Graph& graph) {
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

std::size_t resize_as_nearest(Graph& graph) {
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
std::size_t cut_post_processing(Graph& graph) {
    std::vector<bool> behind(graph.tensors.size());
    std::vector<TensorId> cut;
    std::vector<Node> kept;
    std::size_t places = 0;
    for (const Node& node : graph.nodes) {
        const bool selects = is(node, "NonMaxSuppression") || is(node, "TopK");
        const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](TensorId id) { return id != kNoTensor && behind[id]; });
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
    std::vector<TensorId> outputs;
    for (TensorId id : graph.outputs)
        if (!behind[id])
            outputs.push_back(id);
    for (TensorId id : cut)
        if (std::find(outputs.begin(), outputs.end(), id) == outputs.end())
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

} // namespace

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

} // namespace archsim
