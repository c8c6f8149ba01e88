#include "answers/portability/rewrites.hpp"

#include <algorithm>

namespace archsim {

namespace {

std::int64_t nearest_multiple(std::int64_t size, std::int64_t multiple) {
    return std::max<std::int64_t>(multiple, (size + multiple / 2) / multiple * multiple);
}

/// Sizes of axes of weights that hold channels.
class ChannelRounding {
  public:
    ChannelRounding(Graph& graph, std::int64_t multiple) : graph_(graph), multiple_(multiple) {
        // What the graph takes and returns stays: channels of inputs, and whatever the last product makes.
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
        // What the file says of the sizes in between does not hold any more.
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
        Shape sizes;
        if (const auto& shape = graph_.tensors[id].shape)
            for (const Dimension& dim : *shape)
                sizes.push_back(dim.value);
        return sizes;
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

} // namespace

std::pair<std::shared_ptr<const Graph>, std::size_t> with_rounded_channels(const Graph& graph,
                                                                           std::int64_t multiple) {
    auto copy = std::make_shared<Graph>(graph);
    const std::size_t changed = ChannelRounding(*copy, multiple).run();
    if (changed == 0)
        return {nullptr, 0};
    return {std::move(copy), changed};
}

} // namespace archsim
