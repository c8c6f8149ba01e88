#include "archsim/ops/shaped_graph.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

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

std::string_view name_of(NetworkKind kind) {
    constexpr std::array<std::string_view, kNetworkKinds> kNames = {
        "convolution", "dense_prediction", "attention", "experts", "recurrent", "products"};
    return kNames[static_cast<std::size_t>(kind)];
}

NetworkKind ShapedGraph::kind() const {
    double all = 0, convolutions = 0, recurrences = 0, of_experts = 0;
    bool attends = false, enlarges = false;
    for (const Operator& op : operators) {
        if (op.folded)
            continue;
        const double macs = op.work.macs * op.repeat;
        all += macs;
        if (op.work.kind == OpKind::convolution)
            convolutions += macs;
        else if (op.work.kind == OpKind::recurrent)
            recurrences += macs;
        else if (op.work.kind == OpKind::matmul && op.work.serial_steps > 1)
            of_experts += macs;
        attends = attends || op.work.kind == OpKind::attention || op.work.kind == OpKind::softmax;
        enlarges = enlarges || op.type == "Resize" || op.type == "Upsample" ||
                   (op.work.window && op.work.window->transposed);
    }
    constexpr double kDecides = 0.25; // kernels that wait for each other take more time than their arithmetic
    if (all > 0 && of_experts >= kDecides * all)
        return NetworkKind::experts;
    if (all > 0 && recurrences >= kDecides * all)
        return NetworkKind::recurrent;
    if (all > 0 && 2 * convolutions >= all)
        return enlarges ? NetworkKind::dense_prediction : NetworkKind::convolution;
    return attends ? NetworkKind::attention : NetworkKind::products;
}

} // namespace archsim
