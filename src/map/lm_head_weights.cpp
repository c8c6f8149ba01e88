#include "map/lm_head_weights.hpp"

#include <algorithm>

namespace archsim {

std::vector<std::uint8_t> find_lm_head_weights(const ShapedGraph& graph) {
    std::vector<std::uint8_t> open(graph.tensors.size()), heads(graph.tensors.size());
    for (const TensorId out : graph.outputs)
        if (out != kNoTensor && !graph.tensors[out].kv_cache)
            open[out] = 1;
    for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op) {
        if (std::none_of(op->outputs.begin(), op->outputs.end(),
                         [&](TensorId id) { return id != kNoTensor && open[id] != 0; }))
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
