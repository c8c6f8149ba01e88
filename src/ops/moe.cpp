// Mixture-of-experts layers of com.microsoft: every token goes through its k best experts.

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

/// Inputs of MoE and QMoE: weights (experts, outputs, inputs) of up to three layers with their biases.
struct ExpertInputs {
    std::size_t first = 2, second = 4,
                third = 6; ///< weights; the bias follows (after the scales when quantised)
    std::size_t bias_offset = 1;
};
/// Steps that wait for each other, whatever runs them: the choice of experts, sorting tokens by expert, first
/// products with their activation, second products, weighted sum (kernels of vLLM's fused_experts_impl, of
/// TensorRT-LLM's CutlassMoeFCRunner and of llama.cpp's build_moe_ffn alike; activations count as part of the
/// products before them, as in dense layers).
constexpr double kSteps = 5;
constexpr ExpertInputs kFloat{};
constexpr ExpertInputs kQuantized{2, 5, 8, 2};

struct Experts {
    double experts = 1, active = 1, tokens = 1, picks = 1, hidden = 1;
};

static Experts experts_of(const NodeContext& c, const ExpertInputs& at) {
    Experts e;
    e.hidden = extent(c, 0, -1);
    if (e.hidden <= 0)
        malformed("the hidden size must be positive");
    e.tokens = c.elements(0) / e.hidden;
    e.experts = extent(c, at.first, 0);
    e.picks = std::clamp(static_cast<double>(c.integer("k", 1)), 1.0, std::max(e.experts, 1.0));
    // Distinct experts that T tokens with k picks each touch when all are equally likely: E (1 - (1 -
    // k/E)^T). Worked: 8 experts, 2 picks: 2 for one token, 5.5 for four.
    e.active = e.experts > 0 ? e.experts * (1 - std::pow(1 - e.picks / e.experts, e.tokens)) : 0;
    return e;
}

/// One expert layer: each active expert multiplies its share of the tokens. Only the weights of active
/// experts are read.
static double add_layer(NodeContext& c, const Experts& e, std::size_t weights, std::size_t bias,
                        double inputs, double packing) {
    const double per_expert = e.experts > 0 ? c.elements(weights) * packing / e.experts : 0;
    Contraction layer{.groups = e.active,
                      .m = e.active > 0 ? e.tokens * e.picks / e.active : 0,
                      .n = per_expert / inputs,
                      .k = inputs,
                      .weights_constant = c.is_constant(weights)};
    add_product(c, layer);
    if (e.active < e.experts)
        read_part(c, weights, c.elements(weights) * e.active / e.experts);
    if (c.has_input(bias)) {
        c.work().vector_ops += e.tokens * e.picks * layer.n;
        c.mark_learned(bias);
    }
    c.mark_learned(weights);
    c.mark_packed(weights, packing);
    return layer.n;
}

static void add_activation(NodeContext& c, double elements) {
    const std::string_view type = c.text("activation_type", "relu");
    const bool exponential = type == "silu" || type == "swiglu" || type == "gelu";
    c.work().vector_ops += elements * (exponential ? 3 : type == "identity" ? 0 : 1);
    c.work().special_ops += elements * (type == "gelu" ? 1 : exponential ? 2 : 0);
}

static void experts_work(NodeContext& c, const ExpertInputs& at, double packing) {
    const Experts e = experts_of(c, at);
    const double outputs = add_layer(c, e, at.first, at.first + at.bias_offset, e.hidden, packing);
    const double inner = c.elements(at.second) * packing / std::max(e.experts, 1.0) / e.hidden;
    const double chosen = e.tokens * e.picks;
    add_activation(c, chosen * inner);
    if (c.has_input(at.third)) {
        add_layer(c, e, at.third, at.third + at.bias_offset, e.hidden, packing);
        c.work().vector_ops += chosen * inner; // gate times value
    } else if (outputs > inner) {
        c.work().vector_ops += chosen * inner; // both halves came from the first layer
    }
    add_layer(c, e, at.second, at.second + at.bias_offset, std::max(inner, 1.0), packing);
    // Router: softmax and top k over the experts, then the weighted sum of the chosen results.
    c.work().serial_steps = kSteps;
    const double probabilities = e.tokens * e.experts;
    c.work().vector_ops += 5 * probabilities + 2 * chosen * e.hidden;
    c.work().special_ops += probabilities;
}

static void work_moe(NodeContext& c) {
    experts_work(c, kFloat, 1);
}

/// Weights of 2, 4 or 8 bits are packed into bytes and expanded in the kernel: 2 operations per weight read.
static void work_qmoe(NodeContext& c) {
    const auto bits = static_cast<double>(c.integer("expert_weight_bits", 4));
    if (bits != 2 && bits != 4 && bits != 8)
        malformed("expert_weight_bits must be 2, 4 or 8");
    const double packing =
        c.type(kQuantized.first) == DataType::uint8 || c.type(kQuantized.first) == DataType::int8 ? 8 / bits
                                                                                                  : 1;
    experts_work(c, kQuantized, packing);
    const Experts e = experts_of(c, kQuantized);
    for (const std::size_t weights : {kQuantized.first, kQuantized.second, kQuantized.third}) {
        if (!c.has_input(weights))
            continue;
        c.work().vector_ops += 2 * c.elements(weights) * packing * e.active / std::max(e.experts, 1.0);
        c.mark_learned(weights + 1, false);
    }
    mark_learned_from(c, 11, false);
}

constexpr OperatorRow kMoeRows[] = {
    kMicrosoft.product("MoE", 1, infer_same, work_moe,
                       "k experts per token; reads the weights of the active experts"),
    kMicrosoft.product("QMoE", 1, infer_same, work_qmoe, "MoE with packed weights of 2, 4 or 8 bits"),
};

constinit const std::span<const OperatorRow> moe_rows = kMoeRows;

} // namespace archsim
