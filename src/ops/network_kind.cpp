#include "archsim/ops/shaped_graph.hpp"

namespace archsim {

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
