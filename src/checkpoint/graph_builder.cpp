// A decoder as a graph: embedding, layers, norm, and the head over the last token of each sequence, as
// serving stacks compute it.

#include "checkpoint/graph_maker.hpp"

#include <limits>

namespace archsim::checkpoint {

/// The last token of each sequence, as serving stacks compute it.
static TensorId last_token(GraphMaker& g, const std::string& path, TensorId x) {
    return g.node(
        "Slice", path,
        {x, g.ints({-1}), g.ints({std::numeric_limits<std::int64_t>::max()}), g.ints({1}), g.ints({1})});
}

/// The residual stream: what is added to it waits for the next norm, which adds and normalises at once.
class Residual {
  public:
    Residual(GraphMaker& g, TensorId start) : g_(g), sum_(start) {}
    /// Goes on from another value.
    void restart(TensorId value) { sum_ = value; }

    TensorId normed(const std::string& path, bool last = false) {
        if (pending_ == kNoTensor)
            return g_.norm(path, sum_);
        const auto [normed, sum] = g_.add_and_norm(path, pending_, sum_, !last);
        sum_ = sum;
        pending_ = kNoTensor;
        return normed;
    }
    /// The stream as it is, for what reads it without a norm.
    TensorId value(const std::string& path) {
        if (pending_ != kNoTensor)
            sum_ = g_.node("Add", path, {sum_, pending_});
        pending_ = kNoTensor;
        return sum_;
    }
    /// Adds the result of `path`; `after`: the name of a norm on the way into the stream; empty: none.
    void add(const std::string& path, TensorId x, const std::string& after) {
        if (x == kNoTensor)
            return;
        if (!after.empty())
            x = g_.norm(after, x);
        // A half of a layer starts with a norm, which took what was pending, but for one beside another.
        pending_ = pending_ == kNoTensor ? x : g_.node("Add", path, {pending_, x});
    }

  private:
    GraphMaker& g_;
    TensorId sum_, pending_ = kNoTensor;
};

static void add_head(GraphMaker& g, TensorId x, TensorId table) {
    const Decoder& d = g.decoder();
    const std::string path = "lm_head";
    x = last_token(g, path, x);
    TensorId logits = kNoTensor;
    if (d.tied) {
        const TensorId rows = g.node("Reshape", path, {x, g.ints({-1, g.hidden()})});
        logits = g.node("Unsqueeze", path,
                        {g.node("Gemm", path, {rows, table}, {{"transB", std::int64_t{1}}}), g.ints({1})});
    } else {
        logits = g.linear(path, x, g.hidden(), d.facts.vocabulary, d.head_bias);
    }
    g.output(logits, {"batch", 1, d.facts.vocabulary});
}

/// Rows that each layer is given beside the residual stream (Gemma 3n and 4); empty: none.
using LayerRows = std::vector<TensorId>;
static LayerRows add_layer_rows(GraphMaker& g, TensorId ids, TensorId rows) {
    const LayerInputs& in = g.decoder().layer_inputs;
    const auto layers = static_cast<std::int64_t>(g.decoder().layers.size());
    if (in.width == 0 || layers == 0)
        return {};
    const std::string path = "model/embed_tokens_per_layer";
    const TensorId table = g.weight(path, "weight", {in.vocabulary, layers * in.width}, true);
    const TensorId own = g.node("Gather", path, {table, ids}, {{"axis", std::int64_t{0}}});
    const std::string projection = "model/per_layer_model_projection";
    TensorId shared = g.linear(projection, rows, g.hidden(), layers * in.width, false);
    shared = g.node("Reshape", projection, {shared, g.ints({0, 0, layers, in.width})});
    shared = g.rms_norm("model/per_layer_projection_norm", shared, in.width);
    shared = g.node("Reshape", projection, {shared, g.ints({0, 0, layers * in.width})});
    const TensorId sum = g.node("Add", projection, {shared, own});
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < layers; ++i)
        names.push_back("/model/per_layer_inputs/" + std::to_string(i));
    return g.nodes("Split", "model/per_layer_inputs",
                   {sum, g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(layers), in.width))},
                   names, {{"axis", std::int64_t{-1}}});
}

/// The input of a layer, from its row and the stream.
static TensorId add_layer_input(GraphMaker& g, const std::string& path, TensorId x, TensorId row) {
    const std::int64_t width = g.decoder().layer_inputs.width;
    const std::string gate = path + "/per_layer_input_gate";
    const TensorId y = g.activate(gate, "gelu", g.linear(gate, x, g.hidden(), width, false));
    return g.linear(path + "/per_layer_projection", g.node("Mul", gate, {y, row}), width, g.hidden(), false);
}

/// A narrow path beside attention (Gemma 3n; transformers, models/gemma3n/modeling_gemma3n.py).
static TensorId add_narrow_path(GraphMaker& g, const std::string& path, TensorId x) {
    const std::int64_t rank = g.decoder().layer_inputs.rank;
    x = g.linear(path + "/linear_left", x, g.hidden(), rank, false);
    return g.linear(path + "/linear_right", x, rank, g.hidden(), false);
}

/// The sum of parallel streams on their way in or out.
static TensorId add_streams(GraphMaker& g, const std::string& path, TensorId x) {
    // The streams between these products are a few sums per element and are not counted.
    TensorId sum = x;
    for (std::int64_t i = 1; i < g.decoder().layer_inputs.streams; ++i) {
        const std::string own = path + "." + std::to_string(i - 1);
        sum = g.node("Add", own, {g.linear(own, x, g.hidden(), g.hidden(), false), sum});
    }
    return sum;
}

/// One layer: what mixes tokens, then what follows.
static void add_layer(GraphMaker& g, Residual& residual, std::size_t i, const LayerRows& layer_rows) {
    const DecoderLayer& layer = g.decoder().layers[i];
    const std::string path = "model/layers." + std::to_string(i);
    TensorId normed = kNoTensor;
    if (layer.mixer.kind != MixerKind::none) {
        normed = residual.normed(path + "/input_layernorm");
        residual.add(path, add_mixer(g, path, i, normed),
                     layer.norms_after ? path + "/post_attention_norm" : "");
        if (g.decoder().layer_inputs.rank > 0)
            residual.add(path, add_narrow_path(g, path + "/laurel", normed), path + "/laurel/norm");
    }
    const FeedForward& f = layer.feed_forward;
    if (f.inner > 0 || f.experts > 0 || f.linear) {
        if (!layer.one_norm || normed == kNoTensor)
            normed = residual.normed(path + "/post_attention_layernorm");
        residual.add(path, add_feed_forward(g, path, i, f, normed),
                     layer.norms_after ? path + "/post_feedforward_layernorm" : "");
    }
    if (!layer_rows.empty())
        residual.add(path, add_layer_input(g, path, residual.value(path), layer_rows[i]),
                     path + "/post_per_layer_input_norm");
}

Graph build_graph(const Decoder& decoder) {
    GraphMaker g(decoder);
    const TensorId ids = g.input("input_ids", DataType::int64, {"batch", "sequence"});
    const TensorId table =
        g.weight("model/embed_tokens", "weight", {decoder.facts.vocabulary, decoder.facts.hidden}, true);
    TensorId rows = g.node("Gather", "model/embed_tokens", {table, ids}, {{"axis", std::int64_t{0}}});
    if (decoder.table_norm)
        rows = g.norm("model/embed_layernorm", rows);
    const LayerRows layer_rows = add_layer_rows(g, ids, rows);
    TensorId last = add_streams(g, "model/altup_projections", rows);
    for (std::int64_t pass = 0; pass < decoder.passes; ++pass) {
        Residual residual(g, last);
        for (std::size_t i = 0; i < decoder.layers.size(); ++i)
            add_layer(g, residual, i, layer_rows);
        g.next_pass();
        if (decoder.layer_inputs.streams > 1)
            residual.restart(
                add_streams(g, "model/altup_unembed_projections", residual.value("model/altup")));
        last = residual.normed("model/norm", true);
    }
    if (decoder.scores > 0)
        g.output(g.linear("score", last_token(g, "score", last), decoder.facts.hidden, decoder.scores, false),
                 {"batch", 1, decoder.scores});
    else if (decoder.head)
        add_head(g, last, table);
    else
        g.output(last, {"batch", "sequence", decoder.facts.hidden});
    for (const ResidentWeight& w : decoder.resident)
        g.keep(w);
    return g.take();
}

void fill_attention_facts(Decoder& decoder) {
    CheckpointFacts& facts = decoder.facts;
    for (const DecoderLayer& layer : decoder.layers) {
        const TokenMixer& m = layer.mixer;
        if (m.kind != MixerKind::attention && m.kind != MixerKind::latent)
            continue;
        const bool latent = m.kind == MixerKind::latent, vector = latent && !m.expanded;
        facts.heads = m.heads;
        facts.kv_heads = vector ? 1 : latent ? m.heads : m.kv_heads;
        facts.head_size = vector   ? m.kv_rank + m.rotary_size
                          : latent ? m.plain_size + m.rotary_size
                                   : m.head_size;
        return;
    }
}

double elements(const Tensor& tensor) {
    double product = 1;
    for (const Dimension& axis : *tensor.shape)
        product *= static_cast<double>(axis.value);
    return product;
}

double floating_elements(const Graph& graph) {
    double sum = 0;
    for (const Tensor& t : graph.tensors)
        if (t.role == TensorRole::initializer && is_floating(t.type))
            sum += elements(t);
    return sum;
}

// MLPs and experts.

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

TensorId add_feed_forward(GraphMaker& g, const std::string& path, std::size_t layer, const FeedForward& f,
                          TensorId x) {
    const std::string mlp = path + "/mlp";
    if (f.shifted)
        x = shifted(g, mlp, "x_k", x, shift_difference(g, mlp, layer, "shift.#", x));
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
