#include "ops/passes.hpp"

#include <algorithm>

namespace archsim {

void mark_kv_caches(ShapedGraph& graph) {
    std::vector<bool> is_output(graph.tensors.size(), false);
    for (const TensorId id : graph.outputs)
        if (id != kNoTensor)
            is_output[id] = true;
    for (const Operator& op : graph.operators) {
        const bool extends = op.type == "Concat" || op.type == "ScatterND" || op.type == "ScatterElements";
        if (!extends || op.outputs.empty() || op.outputs[0] == kNoTensor || !is_output[op.outputs[0]])
            continue;
        ShapedTensor& grown = graph.tensors[op.outputs[0]];
        for (const TensorId id : op.inputs) {
            if (id == kNoTensor)
                continue;
            ShapedTensor& in = graph.tensors[id];
            // Keys and values carry batch, heads, positions and head size.
            if (in.role != TensorRole::input || in.shape.size() < 3 ||
                in.shape.size() != grown.shape.size() || in.type != grown.type)
                continue;
            in.kv_cache = true;
            grown.kv_cache = true;
        }
    }
}

void drop_unused(ShapedGraph& graph) {
    std::vector<bool> wanted(graph.tensors.size(), false);
    for (const TensorId id : graph.outputs)
        if (id != kNoTensor)
            wanted[id] = true;
    for (std::size_t i = graph.operators.size(); i-- > 0;) {
        Operator& op = graph.operators[i];
        if (op.folded)
            continue;
        const bool used = std::any_of(op.outputs.begin(), op.outputs.end(),
                                      [&](TensorId id) { return id != kNoTensor && wanted[id]; });
        if (!used) {
            op.folded = true;
            continue;
        }
        for (const TensorId id : op.inputs)
            if (id != kNoTensor)
                wanted[id] = true;
    }
}

} // namespace archsim
