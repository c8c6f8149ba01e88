#pragma once
// Small graphs built in code for the tests of the operator table.

#include "archsim/ops/shaped_graph.hpp"

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace archsim::test {

class GraphMaker {
  public:
    explicit GraphMaker(int opset = 17) : opset_(opset) {}

    TensorId input(const std::string& name, const Shape& shape, DataType type = DataType::float32) {
        const TensorId id = add(name, shape, type, TensorRole::input);
        graph.inputs.push_back(id);
        return id;
    }
    /// An input with named dimensions.
    TensorId symbolic_input(const std::string& name, std::vector<Dimension> shape) {
        const TensorId id = input(name, {});
        graph.tensors[id].shape = std::move(shape);
        return id;
    }
    TensorId weight(const std::string& name, const Shape& shape, DataType type = DataType::float32) {
        return add(name, shape, type, TensorRole::initializer);
    }
    /// A small integer constant with its values.
    TensorId ints(const std::string& name, const std::vector<std::int64_t>& values, bool scalar = false) {
        const TensorId id =
            weight(name, scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())}, DataType::int64);
        Constant constant;
        constant.type = DataType::int64;
        if (!scalar)
            constant.shape = {static_cast<std::int64_t>(values.size())};
        constant.ints = values;
        graph.tensors[id].value = std::make_shared<const Constant>(std::move(constant));
        return id;
    }
    TensorId output(const std::string& name) {
        const TensorId id = intermediate(name);
        graph.outputs.push_back(id);
        return id;
    }
    TensorId intermediate(const std::string& name) {
        Tensor tensor;
        tensor.name = name;
        graph.tensors.push_back(tensor);
        return static_cast<TensorId>(graph.tensors.size() - 1);
    }
    Node& node(const std::string& type, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
               const std::string& domain = "") {
        Node made;
        made.op_type = type;
        made.domain = domain;
        made.opset = domain.empty() ? opset_ : 1;
        made.name = type + "_" + std::to_string(graph.nodes.size());
        made.inputs = std::move(inputs);
        made.outputs = std::move(outputs);
        graph.nodes.push_back(std::move(made));
        return graph.nodes.back();
    }

    Graph graph;

  private:
    TensorId add(const std::string& name, const Shape& shape, DataType type, TensorRole role) {
        Tensor tensor;
        tensor.name = name;
        tensor.type = type;
        tensor.role = role;
        tensor.shape.emplace();
        for (const std::int64_t d : shape)
            tensor.shape->push_back({d, ""});
        graph.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(graph.tensors.size() - 1);
    }

    int opset_;
};

using Ints = std::vector<std::int64_t>;

/// The bound graph of one node between inputs and outputs that the caller has made.
inline ShapedGraph bound(const GraphMaker& maker, const Bindings& bindings = {}) {
    return archsim::bind(maker.graph, bindings, {});
}

/// The last operator with this type.
inline const Operator& operator_of(const ShapedGraph& graph, const std::string& type) {
    for (auto it = graph.operators.rbegin(); it != graph.operators.rend(); ++it)
        if (it->type == type)
            return *it;
    throw std::runtime_error("no operator " + type);
}

} // namespace archsim::test
