// Optimiser steps (ai.onnx.preview.training): R, T, then n tensors of each kind.

#include "ops/common.hpp"
#include "ops/families.hpp"

namespace archsim {

namespace {

/// Updates `Kinds` lists of tensors; outputs are all lists but the gradients, which come second.
template <std::size_t Kinds>
void infer_step(NodeContext& c) {
    if (c.input_count() < 2 + Kinds || (c.input_count() - 2) % Kinds != 0)
        malformed("the tensors do not come in equal lists");
    const std::size_t tensors = (c.input_count() - 2) / Kinds;
    std::size_t out = 0;
    for (std::size_t kind = 0; kind < Kinds; ++kind)
        for (std::size_t i = 0; i < tensors && kind != 1; ++i, ++out) {
            const std::size_t from = 2 + kind * tensors + i;
            c.set_output(out, c.type(from), c.shape(from));
        }
}

void work_step(NodeContext& c) {
    double elements = 0;
    for (std::size_t i = 0; i < c.output_count(); ++i)
        elements += c.output(i).elements();
    c.work().vector_ops = c.row().cost.vector * elements;
    c.work().special_ops = c.row().cost.special * elements;
}

/// The gradient of y has the shapes of the inputs named first.
void infer_gradient(NodeContext& c) {
    for (std::size_t i = 0; i < c.output_count(); ++i)
        c.set_output(i, c.type(i), c.shape(i));
}

/// The differentiated work lies in other operators; a headline without twice their work would be wrong.
void work_gradient(NodeContext&) {
    throw NodeProblem{
        FindingKind::unsupported,
        "the work of the derivatives is not counted: about twice that of what is differentiated",
        "give the graph of the forward pass, or accept totals without it with --allow-unknown"};
}

constexpr RowKinds kTraining{kTrainingDomain};

constexpr OperatorRow step(std::string_view name, NodeFunction infer, ElementCost cost,
                           std::string_view doc) {
    return kTraining.elementwise(name, 1, infer, work_step, cost, doc);
}

constexpr OperatorRow kTrainingRows[] = {
    step("Adagrad", infer_step<3>, {3, 1}, "optimiser step with accumulated squares"),
    step("Adam", infer_step<4>, {4, 1}, "optimiser step with two moments"),
    step("Momentum", infer_step<3>, {3, 0}, "optimiser step with momentum"),
    of_run(kTraining.opaque(
        "Gradient", 1, infer_gradient, work_gradient,
        "derivatives; their work is not counted, and totals are withheld")), // of operators that it does not
                                                                             // name: constant operands make
                                                                             // no constant of it
};

} // namespace

constinit const std::span<const OperatorRow> training_rows = kTrainingRows;

} // namespace archsim
