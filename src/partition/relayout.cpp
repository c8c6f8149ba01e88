#include "partition/group_description.hpp"

namespace archsim {

constexpr std::size_t kImageRank = 4;
// Operators that work on any layout, or are fused into a convolution (microsoft/onnxruntime, onnxruntime/
// core/optimizer/nchwc_transformer.cc; a batch normalisation that is not folded only up to opset 9). Sigmoid
// is not among them: with the product that follows it is one kernel that knows the plain layout.
constexpr std::array<std::string_view, 8> kAnyLayout = {"Relu", "LeakyRelu",   "Clip", "Tanh",
                                                        "Add",  "HardSigmoid", "Sum",  "Concat"};

/// Which layouts one subgraph works in.
struct Layout {
    bool reads_blocked = false;
    bool writes_blocked = false;
};

/// Who reads an image in which layout.
struct Readers {
    bool blocked = false;
    bool plain = false;
};

class Layouts {
  public:
    Layouts(const FusionGraph& fusion, const FusionPolicy& policy, std::vector<Subgraph>& subgraphs)
        : fusion_(fusion), policy_(policy), subgraphs_(subgraphs), blocked_(fusion.graph().tensors.size()),
          readers_(fusion.graph().tensors.size()) {}

    void find() {
        std::vector<Layout> layouts;
        layouts.reserve(subgraphs_.size());
        for (const Subgraph& s : subgraphs_) {
            const Layout layout = layout_of(s);
            layouts.push_back(layout);
            for (const TensorId in : s.inputs) {
                Readers& readers = readers_[fusion_.root(in)];
                (layout.reads_blocked ? readers.blocked : readers.plain) = true;
            }
            for (const TensorId out : s.outputs)
                blocked_[fusion_.root(out)] = layout.writes_blocked;
        }
        for (std::size_t i = 0; i < subgraphs_.size(); ++i)
            for (const TensorId out : subgraphs_[i].outputs)
                mark(out, layouts[i], subgraphs_[i]);
    }

  private:
    bool any_layout(const SubgraphMember& member) const {
        const Operator& op = fusion_.op(member.op);
        return op.work.kind == OpKind::pooling || member.reason == FusionReason::transparent ||
               member.reason == FusionReason::batch_norm_folded ||
               std::ranges::find(kAnyLayout, op.type) != kAnyLayout.end();
    }

    Layout layout_of(const Subgraph& s) const {
        const auto flexible = [&](const SubgraphMember& member) { return any_layout(member); };
        // Weights are put into blocks ahead of the first run, which those that callers may replace are not.
        if (s.kind == OpKind::convolution && !policy_.replaceable_weights &&
            fusion_.reads_replaceable(s.anchor))
            return {false, false};
        if (s.kind == OpKind::convolution) {
            // Operators behind the convolution in its subgraph may know the plain layout alone.
            const auto follows = [&](const SubgraphMember& member) {
                return member.op == s.anchor || flexible(member);
            };
            return {true, std::ranges::all_of(s.members, follows)};
        }
        const auto blocked = [&](TensorId in) { return blocked_[fusion_.root(in)] != 0; };
        const bool keeps = !s.inputs.empty() && std::ranges::all_of(s.members, flexible) &&
                           std::ranges::all_of(s.inputs, blocked);
        return {keeps, keeps};
    }

    /// Once from blocked to plain for all readers that want it plain, once back for those that want blocks.
    void mark(TensorId out, Layout layout, Subgraph& s) const {
        if (fusion_.graph().tensors[out].shape.size() != kImageRank)
            return;
        const Readers readers = readers_[fusion_.root(out)];
        const bool inside = layout.reads_blocked && !layout.writes_blocked;
        const bool after = layout.writes_blocked ? readers.plain || fusion_.is_pinned(out) : readers.blocked;
        for (int changes = inside + after; changes > 0; --changes)
            s.relaid.push_back(out);
    }

    const FusionGraph& fusion_;
    const FusionPolicy& policy_;
    std::vector<Subgraph>& subgraphs_;
    std::vector<std::uint8_t> blocked_; ///< per root tensor: written in blocks
    std::vector<Readers> readers_;      ///< per root tensor
};

void find_relaid(const FusionGraph& fusion, const FusionPolicy& policy, std::vector<Subgraph>& subgraphs) {
    const auto convolution = [](const Subgraph& s) { return s.kind == OpKind::convolution; };
    if (std::ranges::any_of(subgraphs, convolution))
        Layouts(fusion, policy, subgraphs).find();
}

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
