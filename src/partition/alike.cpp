#include "partition/alike.hpp"

#include "partition/fusion_graph.hpp"

#include <algorithm>
#include <vector>

namespace archsim {

namespace {

/// Views of views of a tensor that are followed; a longer chain is taken for a difference.
constexpr int kLongestChain = 64;

/// What the partitioner reads of an operator but for the sizes of its tensors.
bool same_operator(const Operator& a, const Operator& b) {
    const auto product_of_activations = [](const Operator& op) {
        return op.work.contractions.size() == 1 && !op.work.contractions.front().weights_constant;
    };
    return a.work.kind == b.work.kind && a.folded == b.folded && a.repeat == b.repeat &&
           (a.work.special_ops == 0) == (b.work.special_ops == 0) &&
           product_of_activations(a) == product_of_activations(b) && a.inputs == b.inputs &&
           a.outputs == b.outputs && a.type == b.type && a.name == b.name;
}

bool same_tensor(const ShapedTensor& a, const ShapedTensor& b) {
    return a.constant == b.constant && a.role == b.role && a.kv_cache == b.kv_cache;
}

/// Some policies look through it to its input.
bool may_be_view(const Operator& op) {
    return op.folded || op.work.kind == OpKind::free || op.work.kind == OpKind::data_movement;
}

/// The sizes that fusion compares, in both graphs: of an operator's result with those of its inputs, and of
/// what these are views of.
class ComparedSizes {
  public:
    ComparedSizes(const ShapedGraph& one, const ShapedGraph& other)
        : graph_(one), one_(sizes_of(one)), other_(sizes_of(other)), view_(one.tensors.size(), kNoOperator) {}

    bool alike() {
        for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
            const Operator& op = graph_.operators[i];
            if (!op.outputs.empty() && op.outputs.front() != kNoTensor)
                for (const TensorId in : op.inputs)
                    if (in != kNoTensor && !alike(in, op.outputs.front()))
                        return false;
            if (may_be_view(op))
                for (const TensorId out : op.outputs)
                    if (out != kNoTensor)
                        view_[out] = i;
        }
        return true;
    }

  private:
    static std::vector<double> sizes_of(const ShapedGraph& graph) {
        std::vector<double> sizes;
        sizes.reserve(graph.tensors.size());
        for (const ShapedTensor& tensor : graph.tensors)
            sizes.push_back(tensor.elements());
        return sizes;
    }

    bool alike(TensorId in, TensorId out) const {
        // A constant matters where it is a single index (a Gather that selects a piece).
        if (is_constant(in))
            return (one_[in] == 1) == (other_[in] == 1);
        for (int step = 0; step < kLongestChain; ++step) {
            if ((one_[in] < one_[out]) != (other_[in] < other_[out]) ||
                (one_[in] == one_[out]) != (other_[in] == other_[out]))
                return false;
            if (view_[in] == kNoOperator)
                return true;
            const TensorList& sources = graph_.operators[view_[in]].inputs;
            const auto source = std::ranges::find_if(
                sources, [&](TensorId id) { return id != kNoTensor && !is_constant(id); });
            if (source == sources.end())
                return true;
            in = *source;
        }
        return false;
    }

    bool is_constant(TensorId id) const {
        const ShapedTensor& tensor = graph_.tensors[id];
        return tensor.constant || tensor.role == TensorRole::initializer;
    }

    const ShapedGraph& graph_;
    const std::vector<double> one_, other_;
    std::vector<std::uint32_t> view_; ///< per tensor the operator that may make it a view; kNoOperator: none
};

} // namespace

bool fuse_alike(const ShapedGraph& one, const ShapedGraph& other) {
    const auto all = [](const auto& a, const auto& b, auto same) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
    };
    return one.inputs == other.inputs && one.outputs == other.outputs &&
           all(one.tensors, other.tensors, same_tensor) &&
           all(one.operators, other.operators, same_operator) && ComparedSizes(one, other).alike();
}

} // namespace archsim
