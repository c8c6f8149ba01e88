// MLPs and experts.

#include "checkpoint/graph_maker.hpp"

namespace archsim::checkpoint {

static TensorId add_mlp(GraphMaker& g, const std::string& path, const FeedForward& f, TensorId x,
                        std::int64_t width, std::int64_t inner) {
    if (!f.gated) {
        x = g.linear(path + "/up_proj", x, width, inner, f.bias);
        x = g.activate(path + "/act_fn", f.activation, x);
        return g.linear(path + "/down_proj", x, inner, width, f.bias);
    }
    TensorId gate = g.linear(path + "/gate_proj", x, width, inner, f.bias);
    const TensorId up = g.linear(path + "/up_proj", x, width, inner, f.bias);
    gate = g.activate(path + "/act_fn", f.activation, gate);
    gate = g.node("Mul", path, {gate, up});
    if (f.sub_norm)
        gate = g.rms_norm(path + "/ffn_sub_norm", gate, inner);
    return g.linear(path + "/down_proj", gate, inner, width, f.bias);
}

constexpr std::int64_t kToFloat = 1; // TensorProto.FLOAT

/// A router scores every expert, each token runs through the best of them.
static TensorId add_experts(GraphMaker& g, const std::string& path, const std::string& router,
                            const FeedForward& f, TensorId x) {
    const std::int64_t d = g.hidden(), width = f.latent > 0 ? f.latent : d, n = f.experts,
                       inner = f.expert_inner;
    const TensorId rows = g.node("Reshape", router, {x, g.ints({-1, d})});
    // Experts that compute nothing are chosen like the others.
    const TensorId matrix = g.weight(router, "weight", {d, n + f.idle_experts});
    TensorId scores =
        f.float_router ? g.node("MatMulFloat", router,
                                {g.node("Cast", router, {rows}, {{"to", kToFloat}}), matrix}, {}, kOwnDomain)
                       : g.node("MatMul", router, {rows, matrix});
    if (f.router_bias)
        scores = g.node("Add", router, {g.weight(router, "bias", {n + f.idle_experts}), scores});
    TensorId narrow = x;
    if (f.latent > 0)
        narrow = g.linear(path + "/fc1_latent_proj", x, d, f.latent, false);
    const std::string experts = path + "/experts";
    const auto bias = [&](const char* leaf, std::int64_t size) {
        return f.expert_bias ? g.weight(experts, leaf, {n, size}) : kNoTensor;
    };
    std::vector<TensorId> inputs{narrow,
                                 scores,
                                 g.weight(experts + ".w1", "weight", {n, width, inner}, true),
                                 bias("w1.bias", inner),
                                 g.weight(experts + ".w2", "weight", {n, inner, width}, true),
                                 bias("w2.bias", width)};
    if (f.gated)
        inputs.insert(inputs.end(),
                      {g.weight(experts + ".w3", "weight", {n, width, inner}, true), bias("w3.bias", inner)});
    const std::string activation = f.activation == "relu2"            ? "relu"
                                   : f.activation.starts_with("gelu") ? "gelu"
                                                                      : "silu";
    TensorId y = g.node("MoE", experts, std::move(inputs), {{"k", f.active}, {"activation_type", activation}},
                        kMicrosoft);
    return f.latent > 0 ? g.linear(path + "/fc2_latent_proj", y, f.latent, d, false) : y;
}

TensorId add_feed_forward(GraphMaker& g, const std::string& path, const FeedForward& f, TensorId x) {
    const std::string mlp = path + "/mlp";
    if (f.linear)
        return g.linear(mlp + "/linear_mlp", x, g.hidden(), g.hidden(), false);
    if (f.experts == 0)
        return f.inner > 0 ? add_mlp(g, mlp, f, x, g.hidden(), f.inner) : kNoTensor;
    // Beside an MLP the experts lie in the layer itself (Gemma 4).
    TensorId y =
        f.inner > 0 ? add_experts(g, path, path + "/router", f, x) : add_experts(g, mlp, mlp + "/gate", f, x);
    if (f.shared_inner > 0) {
        TensorId shared = add_mlp(g, mlp + "/shared_experts", f, x, g.hidden(), f.shared_inner);
        if (f.shared_gate)
            shared =
                g.node("Mul", mlp + "/shared_expert_gate",
                       {shared, g.node("Sigmoid", mlp + "/shared_expert_gate",
                                       {g.linear(mlp + "/shared_expert_gate", x, g.hidden(), 1, false)})});
        y = g.node("Add", mlp + "/shared_experts", {y, shared});
    }
    if (f.inner > 0)
        y = g.node("Add", mlp, {y, add_mlp(g, mlp, f, x, g.hidden(), f.inner)});
    return y;
}

} // namespace archsim::checkpoint
