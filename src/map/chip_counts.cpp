#include "map/chip_counts.hpp"

#include <algorithm>

namespace archsim {

ChipCounts::ChipCounts(const ShapedGraph& graph, const Sharing& sharing)
    : graph_(graph), sharing_(sharing), counts_(std::make_shared<DerivedCounts>()),
      weight_share_(graph.tensors.size(), 0) {
    counts_->operators = graph.operators;
    counts_->link_elements.assign(graph.operators.size(), 0);
    counts_->collectives.assign(graph.operators.size(), 0);
}

void ChipCounts::scale_work(Operator& part, double share) {
    part.work.macs *= share;
    part.work.vector_ops *= share;
    part.work.special_ops *= share;
}

void ChipCounts::limit_read(Operator& part, std::size_t input, double share) {
    const TensorId id = part.inputs[input];
    if (is_constant(id))
        weight_share_[id] = std::max(weight_share_[id], share);
    if (share >= 1)
        return;
    for (auto& [index, read] : part.work.partial_reads)
        if (index == input) {
            read *= share;
            return;
        }
    part.work.partial_reads.emplace_back(static_cast<std::uint16_t>(input), elements(id) * share);
}

void ChipCounts::limit_write(Operator& part, std::size_t output, double share) {
    if (share >= 1)
        return;
    for (auto& [index, written] : part.work.partial_writes)
        if (index == output) {
            written *= share;
            return;
        }
    part.work.partial_writes.emplace_back(static_cast<std::uint16_t>(output),
                                          part.work.partial_write.value_or(elements(part.outputs[output])) *
                                              share);
}

void ChipCounts::keep_weights(std::uint32_t i) {
    for (TensorId in : graph_.operators[i].inputs)
        if (in != kNoTensor && is_constant(in))
            weight_share_[in] = 1;
}

void ChipCounts::scale_window(std::uint32_t i, double inputs, double outputs) {
    if (auto& window = counts_->operators[i].work.window) {
        window->in_channels *= inputs;
        window->out_channels *= outputs;
        if (window->groups > 1)
            window->groups *= inputs;
    }
}

void ChipCounts::all_reduce(std::uint32_t i) {
    for (TensorId out : graph_.operators[i].outputs)
        if (out != kNoTensor)
            all_reduce(i, elements(out));
}

void ChipCounts::add_up(std::uint32_t i, double numbers, bool alone) {
    constexpr double kWide = 2; // counted as activations of 16 bits
    const double before = counts_->collectives[i];
    all_reduce(i, kWide * numbers);
    if (!alone)
        counts_->collectives[i] = before;
}

void ChipCounts::all_reduce(std::uint32_t i, double elements) {
    if (sharing_.tensor <= 1)
        return;
    const double near = sharing_.node > 0 ? std::min(sharing_.tensor, sharing_.node) : sharing_.tensor;
    const double nodes = sharing_.tensor / near;
    const double passes = 2 * (near - 1) / near + 2 * (nodes - 1) / nodes / near * sharing_.network;
    counts_->link_elements[i] += passes * elements;
    counts_->collectives[i] += nodes > 1 ? 2 : 1;
}

void ChipCounts::gather(TensorId id, std::uint32_t i) {
    if (sharing_.tensor <= 1)
        return;
    const double devices = sharing_.tensor;
    const double near = sharing_.node > 0 ? std::min(devices, sharing_.node) : devices;
    const double nodes = devices / near;
    // What lies in other nodes comes over their network once, by the chip that has the same place there.
    counts_->link_elements[i] +=
        ((devices - 1) / devices + (nodes - 1) / devices * (sharing_.network - 1)) * elements(id);
    counts_->collectives[i] += nodes > 1 ? 2 : 1;
}

} // namespace archsim
