#pragma once
// The counts of the busiest of several devices that share a network: what of each operator it executes,
// reads, writes and sends over its link. Where a tensor lies is decided elsewhere (sharding.cpp).

#include "archsim/map/work.hpp"
#include "map/sharing.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace archsim {

class ChipCounts {
  public:
    /// Everything whole, nothing sent. The graph must outlive it.
    ChipCounts(const ShapedGraph& graph, const Sharing& sharing)
        : graph_(graph), sharing_(sharing), counts_(std::make_shared<DerivedCounts>()),
          weight_share_(graph.tensors.size(), 0) {
        counts_->operators = graph.operators;
        counts_->link_elements.assign(graph.operators.size(), 0);
        counts_->collectives.assign(graph.operators.size(), 0);
    }

    /// The operator as the chip executes it.
    Operator& part(std::uint32_t op) { return counts_->operators[op]; }
    bool is_constant(TensorId id) const {
        return graph_.tensors[id].constant || graph_.tensors[id].role == TensorRole::initializer;
    }
    double elements(TensorId id) const { return graph_.tensors[id].elements(); }

    /// Arithmetic of any kind, times `share`.
    static void scale_work(Operator& part, double share) {
        part.work.macs *= share;
        part.work.vector_ops *= share;
        part.work.special_ops *= share;
    }
    /// Only `share` of the input is read, of the output written; weights read in part are held in part.
    void limit_read(Operator& part, std::size_t input, double share) {
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
    void limit_write(Operator& part, std::size_t output, double share) {
        if (share >= 1)
            return;
        for (auto& [index, written] : part.work.partial_writes)
            if (index == output) {
                written *= share;
                return;
            }
        part.work.partial_writes.emplace_back(
            static_cast<std::uint16_t>(output),
            part.work.partial_write.value_or(elements(part.outputs[output])) * share);
    }
    /// Weights of the operator are held whole.
    void keep_weights(std::uint32_t i) {
        for (TensorId in : graph_.operators[i].inputs)
            if (in != kNoTensor && is_constant(in))
                weight_share_[in] = 1;
    }
    /// `share` of these weights is held, however much of it is read.
    void hold_weights(TensorId id, double share) { weight_share_[id] = share; }
    void scale_window(std::uint32_t i, double inputs, double outputs) {
        if (auto& window = counts_->operators[i].work.window) {
            window->in_channels *= inputs;
            window->out_channels *= outputs;
            if (window->groups > 1)
                window->groups *= inputs;
        }
    }
    /// The sum over the devices that share a matrix: within nodes first, then each chip's part between them.
    void all_reduce(std::uint32_t i) {
        for (TensorId out : graph_.operators[i].outputs)
            if (out != kNoTensor)
                all_reduce(i, elements(out));
    }
    /// The same of so many numbers in fp32, in a collective of its own or with what another operator adds up.
    void add_up(std::uint32_t i, double numbers, bool alone) {
        constexpr double kWide = 2; // counted as activations of 16 bits
        const double before = counts_->collectives[i];
        all_reduce(i, kWide * numbers);
        if (!alone)
            counts_->collectives[i] = before;
    }
    /// The parts of the other devices.
    void gather(TensorId id, std::uint32_t i) {
        if (sharing_.tensor <= 1)
            return;
        const double devices = sharing_.tensor;
        const double near = sharing_.node > 0 ? std::min(devices, sharing_.node) : devices;
        const double nodes = devices / near;
        // Elements in other nodes come over their network once, by the chip that has the same place there.
        counts_->link_elements[i] +=
            ((devices - 1) / devices + (nodes - 1) / devices * (sharing_.network - 1)) * elements(id);
        counts_->collectives[i] += nodes > 1 ? 2 : 1;
    }
    void send(std::uint32_t op, double elements, double collectives = 1) {
        counts_->link_elements[op] += elements;
        counts_->collectives[op] += collectives;
    }

    /// With the share of each tensor that is no constant.
    template <class ShareOf>
    std::shared_ptr<const DerivedCounts> finished(ShareOf share_of) {
        counts_->tensor_share.resize(graph_.tensors.size());
        for (TensorId id = 0; id < graph_.tensors.size(); ++id)
            counts_->tensor_share[id] = is_constant(id) ? held_share(id) : share_of(id);
        return counts_;
    }

  private:
    /// Matrices that nothing reads, such as those of a vision tower beside text, are divided like others.
    double held_share(TensorId id) const {
        if (weight_share_[id] > 0)
            return weight_share_[id];
        const ShapedTensor& tensor = graph_.tensors[id];
        return tensor.learned && tensor.shape.size() > 1 ? 1 / sharing_.tensor : 1;
    }
    void all_reduce(std::uint32_t i, double elements) {
        if (sharing_.tensor <= 1)
            return;
        const double near = sharing_.node > 0 ? std::min(sharing_.tensor, sharing_.node) : sharing_.tensor;
        const double nodes = sharing_.tensor / near;
        const double passes = 2 * (near - 1) / near + 2 * (nodes - 1) / nodes / near * sharing_.network;
        counts_->link_elements[i] += passes * elements;
        counts_->collectives[i] += nodes > 1 ? 2 : 1;
    }

    const ShapedGraph& graph_;
    const Sharing sharing_;
    std::shared_ptr<DerivedCounts> counts_;
    std::vector<double> weight_share_; ///< 0: not read
};

} // namespace archsim
