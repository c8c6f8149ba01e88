#include "map/product_flow.hpp"

#include <algorithm>

namespace archsim {

double constant_products(const Operator& op) {
    return static_cast<double>(std::ranges::count_if(op.work.contractions, &Contraction::weights_constant));
}

bool joins_experts(const Operator& op) {
    return op.work.kind == OpKind::matmul && constant_products(op) > 1;
}

ProductFlow::ProductFlow(const ShapedGraph& graph)
    : reaches_product_(graph.tensors.size(), false), reaches_heads_(graph.tensors.size(), false),
      normed_(graph.tensors.size(), false), part_normed_(graph.tensors.size(), false) {
    for (TensorId out : graph.outputs)
        if (out != kNoTensor)
            reaches_product_[out] = true;
    for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op) {
        const OpKind kind = op->work.kind;
        const bool passes = kind == OpKind::free || kind == OpKind::elementwise ||
                            kind == OpKind::data_movement || kind == OpKind::pooling;
        const bool product = kind == OpKind::convolution || kind == OpKind::attention ||
                             (kind == OpKind::matmul && !joins_experts(*op));
        const auto any_result = [&](const std::vector<bool>& reaches) {
            return std::ranges::any_of(op->outputs,
                                       [&](TensorId id) { return id != kNoTensor && reaches[id]; });
        };
        const bool reaches = product || (passes && any_result(reaches_product_));
        const bool reaches_heads = kind == OpKind::attention ||
                                   ((passes || kind == OpKind::normalization) && any_result(reaches_heads_));
        for (TensorId in : op->inputs)
            if (in != kNoTensor) {
                reaches_product_[in] = reaches_product_[in] || reaches;
                reaches_heads_[in] = reaches_heads_[in] || reaches_heads;
            }
        if (op->inputs.empty() || op->inputs.front() == kNoTensor)
            continue;
        if (kind == OpKind::normalization && op->work.passes > 1)
            normed_[op->inputs.front()] = true;
        // A product of which a part is normalised (the latent vector beside the rotated key) would be
        // gathered at once: it is computed on every chip.
        if ((kind == OpKind::free || kind == OpKind::data_movement) && op->outputs.size() > 1)
            for (TensorId out : op->outputs)
                if (out != kNoTensor && normed_[out])
                    part_normed_[op->inputs.front()] = true;
    }
}

} // namespace archsim
