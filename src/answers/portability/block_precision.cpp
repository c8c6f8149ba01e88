#include "answers/portability/rewrites.hpp"

#include <map>
#include <vector>

namespace archsim {

namespace {

constexpr int kQdqOpset = 13;

bool multiplies_weights(const Graph& graph, const Node& node) {
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
        Tensor tensor;
        tensor.name = std::move(name);
        tensor.type = type;
        graph_.tensors.push_back(std::move(tensor));
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
        Node node;
        node.name = graph_.tensors[to].name;
        node.op_type = type;
        node.opset = kQdqOpset;
        node.inputs = {from, scale_, zero_};
        node.outputs = {to};
        return node;
    }

    Graph& graph_;
    TensorId scale_ = kNoTensor, zero_ = kNoTensor;
    std::map<TensorId, TensorId> done_; ///< what stands in for each
};

} // namespace

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
