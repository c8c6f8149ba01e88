#pragma once
// A transformer as exporters write it, made in memory.

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace archsim::bench {

/// Writes the nodes of a transformer as an exporter without fusion does: 37 per layer.
class TransformerMaker {
  public:
    explicit TransformerMaker(int layers) {
        symbolic_input("x", kWidth);
        std::string x = "x";
        for (int i = 0; i < layers; ++i)
            x = layer(x, "layer" + std::to_string(i) + ".");
        graph_.outputs.push_back(ids_.at(x));
    }
    std::shared_ptr<const Graph> take() { return std::make_shared<const Graph>(std::move(graph_)); }

  private:
    using Ints = std::vector<std::int64_t>;
    static constexpr std::int64_t kWidth = 512, kHeads = 8, kHeadSize = 64, kInner = 2048;
    static constexpr int kOpset = 17;

    TensorId add(const std::string& name) {
        Tensor tensor;
        tensor.name = name;
        graph_.tensors.push_back(std::move(tensor));
        const auto id = static_cast<TensorId>(graph_.tensors.size() - 1);
        ids_[name] = id;
        return id;
    }

    void symbolic_input(const std::string& name, std::int64_t width) {
        const TensorId id = add(name);
        Tensor& tensor = graph_.tensors[id];
        tensor.type = DataType::float32;
        tensor.role = TensorRole::input;
        tensor.shape = {{{-1, "batch"}, {-1, "sequence"}, {width, ""}}};
        graph_.inputs.push_back(id);
    }

    std::string weight(const std::string& name, const Shape& shape, DataType type = DataType::float32,
                       std::vector<std::int64_t> ints = {}) {
        const TensorId id = add(name);
        Tensor& tensor = graph_.tensors[id];
        tensor.type = type;
        tensor.role = TensorRole::initializer;
        tensor.shape.emplace();
        for (const std::int64_t d : shape)
            tensor.shape->push_back({d, ""});
        if (!ints.empty()) {
            Constant constant;
            constant.type = type;
            constant.shape = shape;
            constant.ints = std::move(ints);
            tensor.value = std::make_shared<const Constant>(std::move(constant));
        }
        return name;
    }

    std::string node(const std::string& type, const std::vector<std::string>& inputs,
                     std::vector<std::pair<std::string, AttributeValue>> attributes = {}) {
        Node made;
        made.op_type = type;
        made.opset = kOpset;
        made.name = type + "_" + std::to_string(graph_.nodes.size());
        made.attributes = std::move(attributes);
        for (const std::string& input : inputs)
            made.inputs.push_back(ids_.at(input));
        const std::string result = made.name + ":0";
        made.outputs = {add(result)};
        graph_.nodes.push_back(std::move(made));
        return result;
    }

    std::string dense(const std::string& x, const std::string& name, std::int64_t in, std::int64_t out) {
        return node("Add", {node("MatMul", {x, weight(name + ".w", {in, out})}), weight(name + ".b", {out})});
    }

    std::string norm(const std::string& x, const std::string& name) {
        return node("LayerNormalization",
                    {x, weight(name + ".scale", {kWidth}), weight(name + ".bias", {kWidth})});
    }

    /// Shape arithmetic as exporters leave it: the leading sizes from the tensor, the heads from the network.
    std::string split_heads(const std::string& x, const std::string& name, const Ints& order) {
        const std::string shape = node("Shape", {x});
        const std::string leading =
            node("Gather", {shape, weight(name + ".axes", {2}, DataType::int64, {0, 1})});
        const std::string target =
            node("Concat", {leading, weight(name + ".heads", {2}, DataType::int64, {kHeads, kHeadSize})},
                 {{"axis", std::int64_t{0}}});
        return node("Transpose", {node("Reshape", {x, target})}, {{"perm", order}});
    }

    std::string layer(const std::string& x, const std::string& name) {
        const std::string normed = norm(x, name + "norm1");
        const auto head = [&](const std::string& part, const Ints& order) {
            return split_heads(dense(normed, name + part, kWidth, kWidth), name + part, order);
        };
        const std::string q = head("q", {0, 2, 1, 3}), k = head("k", {0, 2, 3, 1}),
                          v = head("v", {0, 2, 1, 3});
        const std::string scores = node("Softmax", {node("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
        const std::string joined =
            node("Transpose", {node("MatMul", {scores, v})}, {{"perm", Ints{0, 2, 1, 3}}});
        const std::string flat =
            node("Reshape", {joined, weight(name + "flat", {3}, DataType::int64, {0, 0, kWidth})});
        const std::string attended = node("Add", {x, dense(flat, name + "o", kWidth, kWidth)});
        const std::string inner =
            node("Relu", {dense(norm(attended, name + "norm2"), name + "up", kWidth, kInner)});
        return node("Add", {attended, dense(inner, name + "down", kInner, kWidth)});
    }

    Graph graph_;
    std::map<std::string, TensorId> ids_;
};

} // namespace archsim::bench
