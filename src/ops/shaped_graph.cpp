#include "archsim/ops/shaped_graph.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace archsim {

std::string_view name_of(OpKind kind) {
    static constexpr std::string_view kNames[] = {"free",      "convolution", "matmul",        "attention",
                                                  "recurrent", "elementwise", "normalization", "softmax",
                                                  "reduction", "pooling",     "data_movement", "sorting"};
    return name_in(kNames, kind);
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
