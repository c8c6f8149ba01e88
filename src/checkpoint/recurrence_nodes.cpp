// Layers with a state of fixed size: a causal convolution, then a linear recurrence. Both are operators of
// ONNX Runtime (com.microsoft.CausalConvWithState and LinearAttention).

#include "checkpoint/graph_maker.hpp"

namespace archsim::checkpoint {

namespace {

/// Convolves `channels` along the tokens; [batch, tokens, channels] in and out. `kind`: of what the layer
/// carries.
TensorId convolve(GraphMaker& g, const std::string& path, std::size_t layer, const std::string& kind,
                  std::vector<TensorId> inputs, std::int64_t channels, std::int64_t kernel,
                  const char* activation) {
    inputs.push_back(g.past("past_" + kind, layer, {"batch", channels, kernel - 1}));
    const auto out =
        g.nodes("CausalConvWithState", path, std::move(inputs),
                {"/" + path + "_output_0", g.numbered("present_" + kind, layer)},
                {{"activation", std::string(activation)}, {"channels_last", std::int64_t{1}}}, kMicrosoft);
    g.present(out[1], {"batch", channels, kernel - 1});
    return out[0];
}

TensorId add_convolution(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                         TensorId x, std::int64_t channels, const char* activation = "silu") {
    const std::string own = path + "/conv1d";
    return convolve(g, own, layer, "conv.#",
                    {x, g.weight(own, "weight", {channels, 1, m.kernel}),
                     m.kernel_bias ? g.weight(own, "bias", {channels}) : kNoTensor},
                    channels, m.kernel, activation);
}

struct RecurrentSizes {
    std::int64_t key_heads = 0, value_heads = 0, key_size = 0, value_size = 0;
};

static TensorId add_linear_attention(GraphMaker& g, const std::string& path, std::size_t layer,
                                     const TokenMixer& m, const RecurrentSizes& s,
                                     std::vector<TensorId> inputs, const char* rule) {
    const std::vector<Axis> state{"batch", s.value_heads, s.key_size, s.value_size};
    inputs.insert(inputs.begin() + 3, g.past("past_state.#", layer, state, m.state_bits));
    const auto out = g.nodes(
        "LinearAttention", path, std::move(inputs),
        {"/" + path + "/LinearAttention_output_0", g.numbered("present_state.#", layer)},
        {{"update_rule", std::string(rule)}, {"q_num_heads", s.key_heads}, {"kv_num_heads", s.value_heads}},
        kMicrosoft);
    g.present(out[1], state);
    return out[0];
}

/// Norm of every head, times the activated gate.
static TensorId gated_norm(GraphMaker& g, const std::string& path, TensorId y, TensorId gate,
                           std::int64_t width) {
    y = g.rms_norm(path + "/norm", y, width);
    return g.node("Mul", path + "/norm", {y, g.activate(path + "/norm", "silu", gate)});
}

static TensorId add_gated_delta(GraphMaker& g, const std::string& path, std::size_t layer,
                                const TokenMixer& m, TensorId x) {
    const std::int64_t d = g.hidden(), keys = m.kv_heads * m.head_size, values = m.heads * m.value_size;
    TensorId qkv = g.linear(path + "/in_proj_qkv", x, d, 2 * keys + values, false);
    const auto through = [&](const char* name, std::int64_t width) {
        return m.gate_rank == 0
                   ? g.linear(path + name, x, d, width, false)
                   : g.linear(path + name + "_b", g.linear(path + name + "_a", x, d, m.gate_rank, false),
                              m.gate_rank, width, false);
    };
    // Per head, or per channel of the keys.
    const std::int64_t decays = m.gate_rank == 0 && !m.channel_decays ? m.heads : keys;
    const TensorId z = through("/in_proj_z", values);
    const TensorId b = g.linear(path + "/in_proj_b", x, d, m.heads, false);
    const TensorId a = through("/in_proj_a", decays);
    qkv = add_convolution(g, path, layer, m, qkv, 2 * keys + values);
    const auto parts = g.parts(path, qkv, {keys, keys, values}, {"query", "key", "value"});
    const TensorId decay =
        g.node("Mul", path + "/decay",
               {g.node("Exp", path + "/decay", {g.weight(path, "A_log", {decays})}),
                g.node("Softplus", path + "/decay",
                       {g.node("Add", path + "/decay", {a, g.weight(path, "dt_bias", {decays})})})});
    TensorId y = add_linear_attention(
        g, path, layer, m, {m.kv_heads, m.heads, m.head_size, m.value_size},
        {parts[0], parts[1], parts[2], decay, g.node("Sigmoid", path + "/beta", {b})}, "gated_delta");
    y = g.node("Reshape", path, {y, g.ints({0, 0, m.heads, m.value_size})});
    const TensorId gate = g.node("Reshape", path, {z, g.ints({0, 0, m.heads, m.value_size})});
    y = gated_norm(g, path, y, gate, m.value_size);
    y = g.node("Reshape", path, {y, g.ints({0, 0, values})});
    return g.linear(path + "/out_proj", y, values, d, false);
}

static TensorId add_mamba(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                          TensorId x) {
    const std::int64_t d = g.hidden(), inner = m.heads * m.head_size, shared = m.kv_heads * m.state_size;
    const std::int64_t channels = inner + 2 * shared;
    const TensorId all = g.linear(path + "/in_proj", x, d, inner + channels + m.heads, m.bias);
    const auto parts = g.parts(path, all, {inner, channels, m.heads}, {"gate", "xBC", "dt"});
    const TensorId xbc = add_convolution(g, path, layer, m, parts[1], channels);
    const auto xs = g.parts(path, xbc, {inner, shared, shared}, {"x", "B", "C"});
    const TensorId dt =
        g.node("Softplus", path + "/dt",
               {g.node("Add", path + "/dt", {parts[2], g.weight(path, "dt_bias", {m.heads})})});
    const TensorId decay = g.node("Mul", path + "/decay", {dt, g.weight(path, "A_log", {m.heads})});
    // C is the query, B the key, x the value: a state of state_size x head_size per head.
    TensorId y = add_linear_attention(g, path, layer, m, {m.kv_heads, m.heads, m.state_size, m.head_size},
                                      {xs[2], xs[1], xs[0], decay}, "gated");
    const TensorId skip = g.node("Reshape", path + "/skip", {xs[0], g.ints({0, 0, m.heads, m.head_size})});
    const TensorId weighted = g.node("Mul", path + "/skip", {skip, g.weight(path, "D", {m.heads, 1})});
    y = g.node("Add", path + "/skip",
               {y, g.node("Reshape", path + "/skip", {weighted, g.ints({0, 0, inner})})});
    if (m.norm == HeadNorm::none) // gated without a norm (Falcon-H1)
        y = g.node("Mul", path, {y, g.activate(path, "silu", parts[0])});
    else
        y = gated_norm(g, path, y, parts[0], inner);
    return g.linear(path + "/out_proj", y, inner, d, m.bias);
}

/// Mamba: time steps, B and C from the convolved channels; a row of A per channel.
static TensorId add_selective(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                              TensorId x) {
    const std::int64_t d = g.hidden(), inner = m.heads;
    const auto halves =
        g.parts(path, g.linear(path + "/in_proj", x, d, 2 * inner, m.bias), {inner, inner}, {"x", "gate"});
    const TensorId xs = add_convolution(g, path, layer, m, halves[0], inner);
    const auto parts =
        g.parts(path, g.linear(path + "/x_proj", xs, inner, m.time_rank + 2 * m.state_size, false),
                {m.time_rank, m.state_size, m.state_size}, {"dt", "B", "C"}, "/x_proj");
    const TensorId dt =
        g.node("Softplus", path + "/dt", {g.linear(path + "/dt_proj", parts[0], m.time_rank, inner, true)});
    TensorId y = add_linear_attention(
        g, path, layer, m, {1, inner, m.state_size, 1},
        {parts[2], parts[1], xs, dt, g.weight(path, "A_log", {inner, m.state_size})}, "selective");
    const TensorId skip = g.node("Mul", path + "/skip", {xs, g.weight(path, "D", {inner})});
    y = g.node("Add", path + "/skip", {y, skip});
    y = g.node("Mul", path, {y, g.activate(path, "silu", halves[1])});
    return g.linear(path + "/out_proj", y, inner, d, m.bias);
}

/// MiniMax-01: activated queries, keys and values, a decay per head that no input changes, a gated norm.
static TensorId add_lightning(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                              TensorId x) {
    const std::int64_t d = g.hidden(), width = m.heads * m.head_size;
    const TensorId qkv =
        g.activate(path + "/qkv_proj", "silu", g.linear(path + "/qkv_proj", x, d, 3 * width, false));
    const auto parts = g.parts(path, qkv, {width, width, width}, {"query", "key", "value"});
    TensorId y = add_linear_attention(g, path, layer, m, {m.heads, m.heads, m.head_size, m.head_size},
                                      {parts[0], parts[1], parts[2]}, "linear");
    y = g.rms_norm(path + "/norm", y, width);
    const TensorId gate = g.node("Sigmoid", path, {g.linear(path + "/output_gate", x, d, width, false)});
    return g.linear(path + "/out_proj", g.node("Mul", path, {y, gate}), width, d, false);
}

/// LFM2: one gate before a short convolution, one after it.
static TensorId add_gated_convolution(GraphMaker& g, const std::string& path, std::size_t layer,
                                      const TokenMixer& m, TensorId x) {
    const std::int64_t d = g.hidden(), width = m.heads;
    const auto parts = g.parts(path, g.linear(path + "/in_proj", x, d, 3 * width, m.bias),
                               {width, width, width}, {"B", "C", "x"});
    const TensorId gated = g.node("Mul", path + "/gate", {parts[0], parts[2]});
    const TensorId y = add_convolution(g, path, layer, m, gated, width, "none");
    return g.linear(path + "/out_proj", g.node("Mul", path + "/gate", {parts[1], y}), width, d, m.bias);
}

/// Griffin's recurrent block (arXiv:2402.19427, section 2.3): one branch through a short convolution and a
/// recurrence whose decay and input are gated by matrices of each head, times an activated other branch.
static TensorId add_gated_linear(GraphMaker& g, const std::string& path, std::size_t layer,
                                 const TokenMixer& m, TensorId x) {
    const std::int64_t d = g.hidden(), width = m.heads * m.head_size;
    const TensorId other =
        g.activate(path + "/linear_y", "gelu", g.linear(path + "/linear_y", x, d, width, true));
    TensorId y =
        add_convolution(g, path, layer, m, g.linear(path + "/linear_x", x, d, width, true), width, "none");
    const auto gate = [&](const char* name) {
        const std::string own = path + "/rg_lru/" + name;
        const TensorId sum = g.node(
            "Add", own, {g.grouped_linear(own, y, m.heads, width, width), g.weight(own, "bias", {width})});
        return g.node("Sigmoid", own, {sum});
    };
    const TensorId decay = gate("recurrent_gate"), values = g.node("Mul", path, {y, gate("input_gate")});
    y = add_linear_attention(
        g, path + "/rg_lru", layer, m, {width, width, 1, 1},
        {decay, decay, values, decay, g.weight(path + "/rg_lru", "recurrent_param", {width})}, "selective");
    return g.linear(path + "/linear_out", g.node("Mul", path, {y, other}), width, d, true);
}

/// RWKV-7 (arXiv:2503.14456, section 4): six mixtures of a token and the one before it, four of which go
/// through narrow widths; the values of the first layer join those of the others; a state in fp32.
TensorId add_token_shift(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                         TensorId x) {
    const std::int64_t d = g.hidden(), width = m.heads * m.head_size;
    const TensorId difference = shift_difference(g, path, layer, "conv.#", x);
    const auto mixed = [&](const char* leaf) { return shifted(g, path, leaf, x, difference); };
    const auto narrow = [&](const std::string& own, TensorId in, std::int64_t rank, const char* op,
                            bool bias) {
        TensorId y = g.linear(own + "_a", in, d, rank, false);
        y = *op != '\0' ? g.node(op, own, {y}) : y;
        return g.linear(own + "_b", y, rank, width, bias);
    };
    const auto scaled = [&](const char* leaf, TensorId y) {
        return g.node("Mul", path + "/" + leaf, {y, g.weight(path, leaf, {width})});
    };
    const auto of_heads = [&](TensorId y) {
        return g.node("Reshape", path, {y, g.ints({0, 0, m.heads, m.head_size})});
    };
    const auto flat = [&](TensorId y) { return g.node("Reshape", path, {y, g.ints({0, 0, width})}); };
    const auto unit = [&](const std::string& own, TensorId y) { return g.node("Sigmoid", own, {y}); };
    const TensorId values_in = mixed("x_v"),
                   queries = g.linear(path + "/r_proj", mixed("x_r"), d, width, false);
    TensorId keys = g.linear(path + "/k_proj", mixed("x_k"), d, width, false),
             values = g.linear(path + "/v_proj", values_in, d, width, false);
    const TensorId decay =
        unit(path + "/w_lora", narrow(path + "/w_lora", mixed("x_w"), m.decay_rank, "Tanh", true));
    const TensorId rate =
        unit(path + "/a_lora", narrow(path + "/a_lora", mixed("x_a"), m.rate_rank, "", true));
    const TensorId gate = narrow(path + "/g_lora", mixed("x_g"), m.gate_rank, "Sigmoid", false);
    if (TensorId& first = g.left("values"); layer == 0) {
        first = values;
    } else {
        const TensorId part =
            unit(path + "/v_lora", narrow(path + "/v_lora", values_in, m.first_rank, "", true));
        values = g.node("Add", path + "/v_lora",
                        {values, g.node("Mul", path + "/v_lora",
                                        {part, g.node("Sub", path + "/v_lora", {first, values})})});
    }
    const TensorId removed = flat(g.node("LpNormalization", path + "/k_k", {of_heads(scaled("k_k", keys))}));
    keys = g.node("Add", path + "/k_a", {keys, scaled("k_a", g.node("Mul", path + "/k_a", {keys, rate}))});
    TensorId y = add_linear_attention(
        g, path, layer, m, {m.heads, m.heads, m.head_size, m.head_size},
        {queries, keys, values, decay, g.node("Mul", path + "/rate", {removed, rate})}, "gated_delta");
    y = flat(g.node("LayerNormalization", path + "/g_norm",
                    {of_heads(y), g.weight(path + "/g_norm", "weight", {m.heads, m.head_size}),
                     g.weight(path + "/g_norm", "bias", {m.heads, m.head_size})},
                    {{"axis", std::int64_t{-1}}}));
    // A token's own key adds this beside the state.
    const TensorId own =
        g.node("ReduceSum", path + "/r_k",
               {of_heads(scaled("r_k", g.node("Mul", path + "/r_k", {queries, keys}))), g.ints({-1})});
    y = g.node("Add", path + "/r_k", {y, flat(g.node("Mul", path + "/r_k", {own, of_heads(values)}))});
    return g.linear(path + "/o_proj", g.node("Mul", path, {y, gate}), width, d, false);
}

} // namespace

TensorId shift_difference(GraphMaker& g, const std::string& path, std::size_t layer, const std::string& kind,
                          TensorId x) {
    const std::int64_t d = g.hidden();
    return convolve(g, path + "/shift", layer, kind, {x, g.buffer(path + "/shift", {d, 1, 2}), kNoTensor}, d,
                    2, "none");
}

TensorId shifted(GraphMaker& g, const std::string& path, const std::string& leaf, TensorId x,
                 TensorId difference) {
    const std::string own = path + "/" + leaf;
    return g.node("Add", own, {x, g.node("Mul", own, {difference, g.weight(path, leaf, {g.hidden()})})});
}

TensorId add_recurrence(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                        TensorId x) {
    switch (m.kind) {
    case MixerKind::mamba:
        return add_mamba(g, path + "/mixer", layer, m, x);
    case MixerKind::selective:
        return add_selective(g, path + "/mixer", layer, m, x);
    case MixerKind::lightning:
        return add_lightning(g, path + "/linear_attn", layer, m, x);
    case MixerKind::gated_linear:
        return add_gated_linear(g, path + "/temporal_block", layer, m, x);
    case MixerKind::token_shift:
        return add_token_shift(g, path + "/attn", layer, m, x);
    case MixerKind::convolution:
        return add_gated_convolution(g, path + "/conv", layer, m, x);
    default: // Kimi calls it as it calls attention
        return add_gated_delta(g, path + (m.gate_rank > 0 ? "/self_attn" : "/linear_attn"), layer, m, x);
    }
}

} // namespace archsim::checkpoint
