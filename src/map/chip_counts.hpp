#pragma once
// The counts of the busiest of several devices that share a network: what of each operator it executes,
// reads, writes and sends over its link. Where a tensor lies is decided elsewhere (sharding.cpp).

#include "archsim/map/work.hpp"
#include "map/sharing.hpp"

#include <memory>
#include <vector>

namespace archsim {

class ChipCounts {
  public:
    /// Everything whole, nothing sent. The graph must outlive it.
    ChipCounts(const ShapedGraph& graph, const Sharing& sharing);

    /// The operator as the chip executes it.
    Operator& part(std::uint32_t op) { return counts_->operators[op]; }
    bool is_constant(TensorId id) const {
        return graph_.tensors[id].constant || graph_.tensors[id].role == TensorRole::initializer;
    }
    double elements(TensorId id) const { return graph_.tensors[id].elements(); }

    /// Arithmetic of any kind, times `share`.
    static void scale_work(Operator& part, double share);
    /// Only `share` of the input is read, of the output written; weights read in part are held in part.
    void limit_read(Operator& part, std::size_t input, double share);
    void limit_write(Operator& part, std::size_t output, double share);
    /// Weights of the operator are held whole.
    void keep_weights(std::uint32_t op);
    /// `share` of these weights is held, however much of it is read.
    void hold_weights(TensorId id, double share) { weight_share_[id] = share; }
    void scale_window(std::uint32_t op, double inputs, double outputs);
    /// The sum over the devices that share a matrix: within nodes first, then each chip's part between them.
    void all_reduce(std::uint32_t op);
    /// The same of so many numbers in fp32, in a collective of its own or with what another operator adds up.
    void add_up(std::uint32_t op, double numbers, bool alone);
    /// The parts of the other devices.
    void gather(TensorId id, std::uint32_t op);
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
    void all_reduce(std::uint32_t op, double elements);

    const ShapedGraph& graph_;
    const Sharing sharing_;
    std::shared_ptr<DerivedCounts> counts_;
    std::vector<double> weight_share_; ///< 0: not read
};

} // namespace archsim
