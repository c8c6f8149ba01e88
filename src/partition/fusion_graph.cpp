#include "partition/fusion_graph.hpp"

#include "core/lists.hpp"
#include "partition/alike.hpp"

#include <numeric>
#include <set>

namespace archsim {

/// Operators a fused kernel can reasonably hold between a tensor and the point where its uses meet again
/// (a decomposed GELU has 5, a decomposed LayerNorm 9).
constexpr std::size_t kLargestRegion = 24;

/// Operators whose result is a piece of their input: address arithmetic for a stack that keeps pieces in
/// place. A Gather of one constant index along the leading axis selects such a piece.
static bool is_piece(const ShapedGraph& graph, const Operator& op) {
    if (op.type == "Split" || op.type == "Slice")
        return true;
    return op.type == "Gather" && op.inputs.size() == 2 && graph.tensors[op.inputs[1]].constant &&
           graph.tensors[op.inputs[1]].elements() == 1;
}

/// Tensors whose elements a reshape takes in memory order: a strided view of one must be copied for it.
static std::vector<char> find_reshaped(const ShapedGraph& graph) {
    std::vector<char> reshaped(graph.tensors.size(), 0);
    for (const Operator& op : graph.operators)
        if ((op.type == "Reshape" || op.type == "Flatten") && !op.inputs.empty() && op.inputs[0] != kNoTensor)
            reshaped[op.inputs[0]] = 1;
    return reshaped;
}

/// A piece, or a transposition that no reshape follows: the readers only need other strides.
static bool is_strided_view(const ShapedGraph& graph, const Operator& op, const std::vector<char>& reshaped) {
    return is_piece(graph, op) || (op.type == "Transpose" && !op.outputs.empty() && !reshaped[op.outputs[0]]);
}

FusionGraph::FusionGraph(const ShapedGraph& graph, const FusionPolicy& policy)
    : graph_(graph), view_(graph.operators.size(), 0), join_(graph.operators.size(), 0),
      pinned_(graph.tensors.size(), 0), root_(graph.tensors.size()),
      producer_(graph.tensors.size(), kNoOperator) {
    std::vector<FlatLists::Entry> reads; // tensor, reader
    std::vector<std::uint32_t> last_reader(graph.tensors.size(), kNoOperator);
    std::iota(root_.begin(), root_.end(), TensorId{0});
    const std::vector<char> reshaped = policy.strided_views ? find_reshaped(graph) : std::vector<char>{};
    for (std::uint32_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        const bool moves = op.work.kind == OpKind::data_movement;
        const bool view = op.folded || op.work.kind == OpKind::free ||
                          (moves && policy.concat_in_place && is_piece(graph, op)) ||
                          (moves && policy.strided_views && is_strided_view(graph, op, reshaped));
        join_[i] = !view && policy.concat_in_place && op.type == "Concat";
        view_[i] = view || join_[i];
        if (view) {
            TensorId source = kNoTensor;
            for (TensorId in : op.inputs)
                if (in != kNoTensor && !is_constant(in)) {
                    source = root_[in];
                    break;
                }
            if (source != kNoTensor)
                for (TensorId out : op.outputs)
                    if (out != kNoTensor && !is_constant(out))
                        root_[out] = source;
            continue;
        }
        for (TensorId in : op.inputs) {
            if (in == kNoTensor || is_constant(in))
                continue;
            const TensorId r = root_[in];
            if (join_[i])
                pinned_[r] = 1;
            else if (std::exchange(last_reader[r], i) != i)
                reads.emplace_back(r, i);
        }
        if (!join_[i])
            for (TensorId out : op.outputs)
                if (out != kNoTensor)
                    producer_[out] = i;
    }
    readers_ = FlatLists(graph.tensors.size(), reads);
    for (TensorId out : graph.outputs)
        if (out != kNoTensor)
            pinned_[root_[out]] = 1;
    list_activation_inputs();
}

void FusionGraph::list_activation_inputs() {
    std::vector<FlatLists::Entry> inputs; // operator, tensor
    std::vector<std::uint32_t> last_reader(graph_.tensors.size(), kNoOperator);
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i)
        for (TensorId in : op(i).inputs)
            if (in != kNoTensor && !is_constant(in) && std::exchange(last_reader[root_[in]], i) != i)
                inputs.emplace_back(i, root_[in]);
    activation_inputs_ = FlatLists(graph_.operators.size(), inputs);
}

std::optional<std::uint32_t> FusionGraph::closing_operator(TensorId root, bool through_reductions) const {
    const auto first = readers(root);
    if (pinned_[root] || first.empty() || first.size() > kLargestRegion)
        return std::nullopt;
    if (first.size() == 1)
        return first.front();
    // Visit in topological order; the region closes at the operator that leaves no other open path.
    std::set<std::uint32_t> open(first.begin(), first.end());
    for (std::size_t visited = 0; visited < kLargestRegion; ++visited) {
        const std::uint32_t current = *open.begin();
        open.erase(open.begin());
        if (open.empty())
            return current;
        const OpKind kind = op(current).work.kind;
        if (kind != OpKind::elementwise && !(through_reductions && kind == OpKind::reduction))
            return std::nullopt;
        for (TensorId out : op(current).outputs) {
            if (out == kNoTensor)
                continue;
            const auto further = readers(out);
            if (pinned_[out] || further.empty() || further.size() > kLargestRegion)
                return std::nullopt;
            open.insert(further.begin(), further.end());
            if (open.size() > kLargestRegion - visited) // more than there are steps left to close
                return std::nullopt;
        }
    }
    return std::nullopt;
}

/// Views of views of a tensor that are followed; a longer chain is taken for a difference.
constexpr int kLongestChain = 64;

/// Equal in all that the partitioner reads but for the sizes of tensors.
static bool same_operator(const Operator& a, const Operator& b) {
    const auto product_of_activations = [](const Operator& op) {
        return op.work.contractions.size() == 1 && !op.work.contractions.front().weights_constant;
    };
    return a.work.kind == b.work.kind && a.folded == b.folded && a.repeat == b.repeat &&
           (a.work.special_ops == 0) == (b.work.special_ops == 0) &&
           product_of_activations(a) == product_of_activations(b) && a.inputs == b.inputs &&
           a.outputs == b.outputs && a.type == b.type && a.name == b.name;
}

static bool same_tensor(const ShapedTensor& a, const ShapedTensor& b) {
    return a.constant == b.constant && a.role == b.role && a.kv_cache == b.kv_cache;
}

/// Some policies look through it to its input.
static bool may_be_view(const Operator& op) {
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
        return mapped(graph.tensors, [&](const ShapedTensor& tensor) { return tensor.elements(); });
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

bool fuse_alike(const ShapedGraph& one, const ShapedGraph& other) {
    const auto all = [](const auto& a, const auto& b, auto same) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
    };
    return one.inputs == other.inputs && one.outputs == other.outputs &&
           all(one.tensors, other.tensors, same_tensor) &&
           all(one.operators, other.operators, same_operator) && ComparedSizes(one, other).alike();
}

} // namespace archsim
