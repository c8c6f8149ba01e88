#pragma once
// Replaces nodes of an imported graph by others, in topological order.

#include "archsim/graph/graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
        Node node;
        node.name = nodes_.empty() ? node_.name : node_.name + "/" + std::to_string(nodes_.size());
        node.op_type = type;
        node.opset = kOpset;
        node.inputs = std::move(inputs);
        node.outputs = {output};
        node.attributes = std::move(attributes);
        nodes_.push_back(std::move(node));
        return output;
    }

    Graph& graph_;
    const Node& node_;
    std::vector<Node> nodes_;
};

/// Calls `replace(node, replacement)` for every node; those for which it added nodes give way to them.
template <class Replace>
std::size_t replace_nodes(Graph& graph, Replace&& replace) {
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

} // namespace archsim
