#include "archsim/ops/shaped_graph.hpp"

#include <algorithm>

namespace archsim {

std::string_view name_of(OpKind kind) {
    switch (kind) {
    case OpKind::free:
        return "free";
    case OpKind::convolution:
        return "convolution";
    case OpKind::matmul:
        return "matmul";
    case OpKind::attention:
        return "attention";
    case OpKind::recurrent:
        return "recurrent";
    case OpKind::elementwise:
        return "elementwise";
    case OpKind::normalization:
        return "normalization";
    case OpKind::softmax:
        return "softmax";
    case OpKind::reduction:
        return "reduction";
    case OpKind::pooling:
        return "pooling";
    case OpKind::data_movement:
        return "data_movement";
    case OpKind::sorting:
        return "sorting";
    }
    return "unknown";
}

bool ShapedGraph::complete() const {
    return std::none_of(findings.begin(), findings.end(),
                        [](const Finding& f) { return f.severity == Severity::error; });
}

double ShapedGraph::parameters() const {
    double total = 0;
    for (const ShapedTensor& t : tensors)
        if (t.learned && t.known)
            total += t.elements() * t.packing;
    return total;
}

double ShapedGraph::macs() const {
    double total = 0;
    for (const Operator& op : operators)
        if (!op.folded)
            total += op.repeat * op.work.macs;
    return total;
}

double ShapedGraph::operations() const {
    double total = 0;
    for (const Operator& op : operators)
        if (!op.folded)
            total += op.repeat * op.work.operations();
    return total;
}

} // namespace archsim
