#include "ops/passes.hpp"

#include <algorithm>

namespace archsim {

void mark_kv_caches(ShapedGraph& graph) {
    std::vector<bool> is_output(graph.tensors.size(), false);
    for (const TensorId id : graph.outputs)
        if (id != kNoTensor)
            is_output[id] = true;
    // Results of a branch reach the graph's outputs through copies that cost nothing.
    // The condition of an If stands behind them.
    const auto copies = [](const Operator& op) {
        const std::size_t conditions = op.type == "If" ? 1 : 0;
        return op.work.kind == OpKind::free && op.inputs.size() == op.outputs.size() + conditions;
    };
    for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op)
        if (copies(*op))
            for (std::size_t i = 0; i < op->outputs.size(); ++i) // of a branch: all its results side by side
                if (op->inputs[i] != kNoTensor && op->outputs[i] != kNoTensor && is_output[op->outputs[i]])
                    is_output[op->inputs[i]] = true;
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

void check_outputs(const Graph& graph, BindState& state) {
    const bool overridden = !state.bindings.input_shapes.empty() || state.rebatch;
    for (const TensorId id : graph.outputs) {
        if (id == kNoTensor || !graph.tensors[id].shape)
            continue;
        const ShapedTensor& found = state.graph.tensors[id];
        const auto& declared = *graph.tensors[id].shape;
        if (!found.known || found.kind != ValueKind::tensor || declared.size() != found.shape.size())
            continue;
        for (std::size_t axis = 0; axis < declared.size(); ++axis) {
            const Dimension& d = declared[axis];
            if (d.value < 0 && !d.symbol.empty())
                state.graph.dims.emplace(d.symbol, found.shape[axis]);
            if (d.value < 0 || d.value == found.shape[axis] || found.data_dependent || overridden)
                continue;
            state.report({.kind = FindingKind::shape_conflict,
                          .severity = Severity::warning,
                          .message = "the file declares " + std::to_string(d.value) + " for axis " +
                                     std::to_string(axis) + " of this output, its operators give " +
                                     std::to_string(found.shape[axis]) + "; the latter is used",
                          .where = found.name,
                          .hint = "export the model again, or bind the sizes it was exported with"});
        }
    }
}

/// Weights that nothing reads, not even at build time, are no parameters of the network.
static void forget_unread(ShapedGraph& graph) {
    std::vector<bool> read(graph.tensors.size(), false);
    for (const TensorId id : graph.outputs)
        if (id != kNoTensor)
            read[id] = true;
    for (const Operator& op : graph.operators)
        for (const TensorId id : op.inputs)
            if (id != kNoTensor)
                read[id] = true;
    for (std::size_t id = 0; id < graph.tensors.size(); ++id)
        if (!read[id])
            graph.tensors[id].learned = false;
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
    forget_unread(graph);
}

} // namespace archsim
