#include "map/network_parts.hpp"

#include <algorithm>

namespace archsim {

/// Which tensors are results of products, as far as linear layers add their bias to them.
class WideTensors {
  public:
    explicit WideTensors(const ShapedGraph& graph)
        : graph_(graph), wide_(graph.tensors.size()), product_(graph.tensors.size()) {
        for (const TensorId in : graph.inputs)
            if (in != kNoTensor && is_floating(graph.tensors[in].type))
                wide_[in] = 1;
        for (const Operator& op : graph.operators)
            if (!op.folded)
                visit(op);
    }
    std::vector<std::uint8_t> take() { return std::move(wide_); }

  private:
    void visit(const Operator& op) {
        const bool product = multiplies(op.work.kind) || adds_bias(op);
        const bool wide = !product && yields_wide(op);
        for (const TensorId out : op.outputs)
            if (out != kNoTensor) {
                product_[out] = product || (op.work.kind == OpKind::free && reads(op, product_)) ? 1 : 0;
                wide_[out] = wide && is_floating(graph_.tensors[out].type) ? 1 : 0;
            }
    }

    bool yields_wide(const Operator& op) const {
        if (op.type == "BatchNormalization") // runs in the format of its input
            return reads(op, wide_);
        const bool promotes = op.work.kind == OpKind::elementwise || looks_up(op);
        return op.work.kind == OpKind::normalization || op.work.kind == OpKind::softmax || reads(op, wide_) ||
               (promotes && std::ranges::any_of(op.inputs, [this](TensorId in) { return is_parameter(in); }));
    }

    /// The sum behind a matrix product with one value per column is part of the linear layer.
    bool adds_bias(const Operator& op) const {
        return op.type == "Add" && reads(op, product_) && std::ranges::any_of(op.inputs, [this](TensorId in) {
                   return is_parameter(in) && graph_.tensors[in].shape.size() == 1;
               });
    }

    bool looks_up(const Operator& op) const {
        return op.work.kind == OpKind::data_movement && op.type == "Gather" && !op.inputs.empty() &&
               is_parameter(op.inputs.front());
    }

    /// A constant of more than one float: numbers in a program take the format of what they meet.
    bool is_parameter(TensorId id) const {
        if (id == kNoTensor)
            return false;
        const ShapedTensor& t = graph_.tensors[id];
        return (t.constant || t.role == TensorRole::initializer) && is_floating(t.type) && t.elements() > 1;
    }

    static bool reads(const Operator& op, const std::vector<std::uint8_t>& marked) {
        return std::ranges::any_of(op.inputs,
                                   [&](TensorId in) { return in != kNoTensor && marked[in] != 0; });
    }

    const ShapedGraph& graph_;
    std::vector<std::uint8_t> wide_, product_;
};

bool multiplies(OpKind kind) {
    return kind == OpKind::convolution || kind == OpKind::matmul || kind == OpKind::attention ||
           kind == OpKind::recurrent;
}

std::vector<std::uint8_t> find_wide_tensors(const ShapedGraph& graph) {
    return WideTensors(graph).take();
}

std::vector<std::uint8_t> find_lm_head_weights(const ShapedGraph& graph) {
    std::vector<std::uint8_t> open(graph.tensors.size()), heads(graph.tensors.size());
    for (const TensorId out : graph.outputs)
        if (out != kNoTensor && !graph.tensors[out].kv_cache)
            open[out] = 1;
    for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op) {
        if (std::ranges::none_of(op->outputs, [&](TensorId id) { return id != kNoTensor && open[id] != 0; }))
            continue;
        const bool passes = op->work.kind == OpKind::free || op->work.kind == OpKind::elementwise;
        for (const TensorId in : op->inputs)
            if (in == kNoTensor)
                continue;
            else if (passes)
                open[in] = 1;
            else if (op->work.kind == OpKind::matmul && graph.tensors[in].role == TensorRole::initializer)
                heads[in] = 1;
    }
    return heads;
}

} // namespace archsim
