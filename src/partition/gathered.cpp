#include "partition/group_description.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace archsim {

namespace {

constexpr std::size_t kSeveralBatches = 4; // dimensions of an operand: two of batches, two of matrices

class Scattered {
  public:
    explicit Scattered(const ShapedGraph& graph) : graph_(graph), producer_(graph.tensors.size(), nullptr) {
        for (const Operator& op : graph.operators)
            if (!op.folded)
                for (const TensorId out : op.outputs)
                    if (out != kNoTensor)
                        producer_[out] = &op;
    }

    /// Whether `id` holds matrices at more than one distance: a transposition laid them so, and what came
    /// after kept the order in memory.
    bool operator()(TensorId id) const {
        const Shape& shape = graph_.tensors[id].shape;
        if (shape.size() < kSeveralBatches || shape[0] <= 1 || shape[1] <= 1)
            return false;
        for (const Operator* op = producer_[id]; op != nullptr; op = producer_[id]) {
            if (op->type == "Transpose" && !swaps_matrices(*op))
                return true;
            if (op->inputs.empty() || op->inputs.front() == kNoTensor || !keeps_order(*op))
                return false;
            id = op->inputs.front();
        }
        return false;
    }

  private:
    /// Only rows and columns change places: products read either.
    bool swaps_matrices(const Operator& op) const {
        const Shape& from = graph_.tensors[op.inputs.front()].shape;
        const Shape& to = graph_.tensors[op.outputs.front()].shape;
        const auto batches = static_cast<std::ptrdiff_t>(from.size()) - 2;
        return batches >= 0 && std::equal(from.begin(), from.begin() + batches, to.begin());
    }

    bool keeps_order(const Operator& op) const {
        const bool piece = op.type == "Gather" || op.type == "Split" || op.type == "Slice";
        const bool relabelled = op.type == "Squeeze" || op.type == "Unsqueeze" || op.type == "Transpose";
        return piece || relabelled || op.work.kind == OpKind::elementwise;
    }

    const ShapedGraph& graph_;
    std::vector<const Operator*> producer_;
};

} // namespace

void find_gathered(const ShapedGraph& graph, std::vector<Subgraph>& subgraphs) {
    const Scattered scattered(graph);
    for (Subgraph& s : subgraphs) {
        const Operator& anchor = graph.operators[s.anchor];
        if (s.kind != OpKind::matmul || anchor.work.contractions.size() != 1 ||
            anchor.work.contractions.front().weights_constant)
            continue;
        for (const TensorId in : anchor.inputs)
            if (in != kNoTensor && scattered(in))
                s.gathered.push_back(in);
    }
}

std::vector<std::uint32_t> next_readers(const std::vector<Subgraph>& subgraphs, std::size_t tensors) {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> next(subgraphs.size()), last(tensors, kNone);
    for (std::uint32_t i = 0; i < next.size(); ++i) {
        next[i] = i;
        const OpKind kind = subgraphs[i].kind;
        const bool meets = kind == OpKind::matmul || kind == OpKind::convolution || kind == OpKind::pooling;
        if (!meets || subgraphs[i].inputs.empty())
            continue;
        std::uint32_t& before = last[subgraphs[i].inputs.front()];
        if (before != kNone)
            std::swap(next[i], next[before]);
        before = i;
    }
    return next;
}

} // namespace archsim
