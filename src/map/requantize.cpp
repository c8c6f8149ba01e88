// Concatenations of quantised tensors whose scales differ.

#include "map/accelerator.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace archsim::accelerator {

/// Kernels that scale what they write anyway, so that the scale of the result costs nothing more.
static bool writes_any_scale(OpKind kind) {
    switch (kind) {
    case OpKind::convolution:
    case OpKind::matmul:
    case OpKind::attention:
    case OpKind::recurrent:
    case OpKind::elementwise:
    case OpKind::normalization:
    case OpKind::softmax:
    case OpKind::reduction:
        return true;
    default:
        return false;
    }
}

/// Who writes each tensor, and how many operators read it; views stand for what they show.
struct Readers {
    explicit Readers(const ShapedGraph& graph)
        : source(graph.tensors.size()), producer(graph.tensors.size(), nullptr),
          readers(graph.tensors.size()) {
        for (TensorId id = 0; id < source.size(); ++id)
            source[id] = id;
        for (const Operator& op : graph.operators) {
            const bool view = op.folded || op.work.kind == OpKind::free;
            for (std::size_t i = 0; i < op.inputs.size(); ++i) {
                const TensorId in = op.inputs[i];
                // An operator that reads a tensor twice is one reader.
                if (in != kNoTensor && !view &&
                    std::find(op.inputs.begin(), op.inputs.begin() + static_cast<std::ptrdiff_t>(i), in) ==
                        op.inputs.begin() + static_cast<std::ptrdiff_t>(i))
                    readers[source[in]] += 1;
            }
            for (const TensorId out : op.outputs)
                if (out != kNoTensor) {
                    if (view && !op.inputs.empty() && op.inputs.front() != kNoTensor)
                        source[out] = source[op.inputs.front()];
                    else
                        producer[out] = &op;
                }
        }
    }
    std::vector<TensorId> source;
    std::vector<const Operator*> producer;
    std::vector<std::uint32_t> readers;
};

Requantized requantized_inputs(const ShapedGraph& graph) {
    const auto joins = [](const Operator& op) { return op.type == "Concat" && !op.folded; };
    if (std::ranges::none_of(graph.operators, joins))
        return {};
    const Readers of(graph);
    Requantized total;
    for (const Operator& op : graph.operators) {
        if (!joins(op))
            continue;
        for (const TensorId in : op.inputs) {
            if (in == kNoTensor || graph.tensors[in].constant || !is_floating(graph.tensors[in].type))
                continue;
            const TensorId source = of.source[in];
            const Operator* producer = of.producer[source];
            if (producer == nullptr || of.readers[source] > 1 || !writes_any_scale(producer->work.kind)) {
                total.tensors += op.repeat;
                total.elements += op.repeat * graph.tensors[in].elements();
            }
        }
    }
    return total;
}

} // namespace archsim::accelerator
