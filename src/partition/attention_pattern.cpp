#include "partition/group_description.hpp"

namespace archsim {

static bool is_activation_product(const Operator& op) {
    return op.work.kind == OpKind::matmul && op.work.contractions.size() == 1 &&
           !op.work.contractions.front().weights_constant;
}

/// Elementwise operators between a product and the softmax: scale, mask, clipping.
constexpr int kLongestScoreChain = 8;

/// The tensor of full score size that flows into `i`.
static std::optional<TensorId> main_input(const FusionGraph& graph, std::uint32_t i) {
    const double size = graph.tensor(graph.op(i).outputs.front()).elements();
    for (TensorId in : graph.op(i).inputs)
        if (in != kNoTensor && !graph.is_constant(in) && graph.tensor(in).elements() == size)
            return graph.root(in);
    return std::nullopt;
}

/// Adds what differs from head to head, of a score matrix (heads, queries, keys) in its last three
/// dimensions: relative positions; masks are the same for all heads.
static bool adds_head_bias(const FusionGraph& graph, std::uint32_t i, TensorId scores) {
    constexpr std::size_t kMatrix = 3;
    if (graph.op(i).type != "Add")
        return false;
    return std::any_of(graph.op(i).inputs.begin(), graph.op(i).inputs.end(), [&](TensorId in) {
        if (in == kNoTensor || graph.root(in) == scores)
            return false;
        const Shape& shape = graph.tensor(in).shape;
        return shape.size() >= kMatrix && shape[shape.size() - kMatrix] > 1;
    });
}

/// Transposes and scalings that feed only the kernel: it reads its operands through them.
static void absorb_producers(const FusionGraph& graph, std::vector<std::uint32_t>& members) {
    const auto is_member = [&](std::uint32_t i) { return std::ranges::find(members, i) != members.end(); };
    for (std::size_t m = 0; m < members.size(); ++m)
        for (TensorId in : graph.activation_inputs(members[m])) {
            const std::uint32_t source = graph.producer(in);
            if (source == kNoOperator || is_member(source) || graph.is_pinned(in))
                continue;
            const Operator& op = graph.op(source);
            const bool scaling =
                op.work.kind == OpKind::elementwise && graph.activation_inputs(source).size() == 1;
            if ((op.type == "Transpose" || scaling) &&
                std::all_of(graph.readers(in).begin(), graph.readers(in).end(), is_member))
                members.push_back(source);
        }
}

std::vector<AttentionRegion> find_attention(const FusionGraph& graph) {
    std::vector<AttentionRegion> regions;
    const auto& operators = graph.graph().operators;
    for (std::uint32_t s = 0; s < operators.size(); ++s) {
        if (graph.is_view(s) || operators[s].work.kind != OpKind::softmax)
            continue;
        std::vector<std::uint32_t> members{s};
        // The product at the end of a chain of elementwise operators, which are members with it.
        const auto product_from = [&](const auto& next) -> std::optional<std::uint32_t> {
            std::uint32_t at = s;
            for (int step = 0; step < kLongestScoreChain; ++step) {
                at = next(at);
                if (at == kNoOperator)
                    return std::nullopt;
                members.push_back(at);
                if (is_activation_product(operators[at]))
                    return at;
                if (operators[at].work.kind != OpKind::elementwise)
                    return std::nullopt;
            }
            return std::nullopt;
        };
        // Back to the score product.
        bool biased = false;
        const auto scores = product_from([&](std::uint32_t at) {
            const auto in = main_input(graph, at);
            if (!in || graph.producer(*in) == kNoOperator || graph.readers(*in).size() != 1)
                return kNoOperator;
            biased = biased || adds_head_bias(graph, at, *in);
            return graph.producer(*in);
        });
        if (!scores)
            continue;
        // Forward to the value product.
        const auto values = product_from([&](std::uint32_t at) {
            const TensorId out = operators[at].outputs.front();
            const bool passes = !graph.is_pinned(out) && graph.readers(out).size() == 1;
            return passes ? graph.readers(out).front() : kNoOperator;
        });
        if (!values)
            continue;
        absorb_producers(graph, members);
        const TensorId out = operators[*values].outputs.front();
        if (!graph.is_pinned(out) && graph.readers(out).size() == 1 &&
            operators[graph.readers(out).front()].type == "Transpose")
            members.push_back(graph.readers(out).front());
        std::ranges::sort(members);
        members.erase(std::unique(members.begin(), members.end()), members.end());
        regions.push_back({*scores, *values, biased, std::move(members)});
    }
    return regions;
}

} // namespace archsim
