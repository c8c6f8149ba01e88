// Denoisers whose image tokens attend to themselves and read the prompt by cross-attention (DiT, Peebles and
// Xie, arXiv:2212.09748): PixArt-Sigma (arXiv:2403.04692), SANA (arXiv:2410.10629) and Hunyuan-DiT
// (arXiv:2405.08748), as diffusers runs them.

#include "checkpoint/diffusion/net.hpp"

namespace archsim::checkpoint {

/// Heads of one attention and what is done to its queries and keys.
struct Heads {
    std::int64_t number = 0, size = 0;
    enum class Norm : std::uint8_t { none, across, per_head } norm = Norm::none;
    std::string positions;  ///< tokens whose queries are rotated; empty: none
    bool exchanged = false; ///< devices that divide the tokens exchange those of this cross-attention, too
    std::int64_t width() const { return number * size; }
};

struct Projected {
    TensorId q, k, v;
};

static Projected project(Net& g, const std::string& path, TensorId x, std::int64_t n_x, TensorId of,
                         std::int64_t n_of, const Heads& h, bool bias) {
    Projected p{g.linear(path + "/to_q", x, n_x, h.width(), bias),
                g.linear(path + "/to_k", of, n_of, h.width(), bias),
                g.linear(path + "/to_v", of, n_of, h.width(), bias)};
    const auto normed = [&](const std::string& name, TensorId t) {
        if (h.norm == Heads::Norm::across)
            return g.composed_norm(path + name, t, h.width());
        if (h.norm == Heads::Norm::none)
            return t;
        t = g.layer_norm(path + name, g.reshape(path + name, t, {0, 0, h.number, h.size}), h.size);
        return g.reshape(path + name, t, {0, 0, h.width()});
    };
    p.q = normed("/norm_q", p.q);
    p.k = normed("/norm_k", p.k);
    return p;
}

static TensorId attention(Net& g, const std::string& path, TensorId x, std::int64_t n_x, TensorId of,
                          std::int64_t n_of, const Heads& h, bool bias = true) {
    Projected p = project(g, path, x, n_x, of, n_of, h, bias);
    if (!h.positions.empty()) {
        p.q = g.rotate(path + "/q", p.q, h.number, h.size, h.positions);
        if (x == of)
            p.k = g.rotate(path + "/k", p.k, h.number, h.size, h.positions);
    }
    const bool exchanged = x == of || h.exchanged;
    if (exchanged) {
        // Each device has the whole prompt, which attention finds once for each of them then.
        const char* others = x == of ? kOtherTokens : kOtherPrompts;
        p.q = g.exchanged(path + "/q", p.q, h.number, h.size);
        p.k = g.with_others(path + "/k", g.exchanged(path + "/k", p.k, h.number, h.size), h.width(), others);
        p.v = g.with_others(path + "/v", g.exchanged(path + "/v", p.v, h.number, h.size), h.width(), others);
    }
    TensorId y = g.attention(path, p.q, p.k, p.v, h.number);
    if (exchanged)
        y = g.exchanged(path, y, h.number, h.size);
    return g.linear(path + "/to_out", y, h.width(), n_x, true);
}

/// Attention without a softmax: keys and values of all tokens meet once, in a matrix per head; a row of ones
/// beside the values gives the divisor.
static TensorId linear_attention(Net& g, const std::string& path, TensorId x, std::int64_t n_x,
                                 const Heads& h, bool bias) {
    const Projected p = project(g, path, x, n_x, x, n_x, h, bias);
    const auto heads = [&](const std::string& name, TensorId t, std::vector<std::int64_t> order) {
        t = g.exchanged(path + name, t, h.number, h.size);
        return g.transpose(path + name, g.reshape(path + name, t, {0, 0, h.number, h.size}),
                           std::move(order));
    };
    const TensorId q = g.node("Relu", path + "/q", {heads("/q", p.q, {0, 2, 3, 1})}),
                   k = g.node("Relu", path + "/k", {heads("/k", p.k, {0, 2, 1, 3})});
    const TensorId v =
        g.node("Pad", path, {heads("/v", p.v, {0, 2, 3, 1}), g.ints({0, 0, 0, 0, 0, 0, 1, 0})});
    TensorId y = g.node("MatMul", path, {g.node("MatMul", path, {v, k}), q});
    const TensorId rows = g.node("Slice", path, {y, g.ints({0}), g.ints({h.size}), g.ints({2})}),
                   sums = g.node("Slice", path, {y, g.ints({h.size}), g.ints({h.size + 1}), g.ints({2})});
    y = g.node("Div", path, {rows, sums});
    y = g.reshape(path, g.transpose(path, y, {0, 3, 1, 2}), {0, 0, h.width()});
    return g.linear(path + "/to_out", g.exchanged(path, y, h.number, h.size), h.width(), n_x, true);
}

/// Shifts, scales and gates of a block: a learned table plus what all blocks share.
static std::vector<TensorId> table(Net& g, const std::string& path, TensorId shared, std::int64_t width,
                                   std::int64_t rows) {
    const TensorId own = g.weight(path + "/scale_shift_table", "", {1, rows * width});
    return g.split(path + "/scale_shift_table", g.add(path + "/scale_shift_table", shared, own),
                   static_cast<std::size_t>(rows));
}

/// Time of a denoiser whose blocks share one modulation: the vector, and six times its width.
static std::pair<TensorId, TensorId> shared_modulation(Net& g, const std::string& path, const Axis& batch,
                                                       std::int64_t width) {
    const TensorId time = g.time_embedding(path + "/emb/timestep_embedder", batch, kWaves, width);
    return {time, g.linear(path + "/linear", g.silu(path, time), width, 6 * width, true)};
}

static TensorId modulated_out(Net& g, TensorId x, TensorId time, std::int64_t width, std::int64_t channels) {
    // The last table has two rows, to each of which the vector of time is added.
    const TensorId own = g.weight("scale_shift_table", "", {1, 2, width});
    const auto rows = g.split("scale_shift_table", g.add("scale_shift_table", own, time), 2, 1);
    x = g.modulate("norm_out", g.layer_norm("norm_out", x, width, false), rows[0], rows[1]);
    return g.linear("proj_out", x, width, channels, true);
}

static TensorId patches(Net& g, const std::string& path, TensorId latents, std::int64_t in,
                        std::int64_t width, std::int64_t patch) {
    return g.tokens(path, g.convolution(path + "/proj", latents, in, width, {.size = patch, .stride = patch}),
                    width);
}

Graph build_pixart(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    const Heads h{size_of(f, {"num_attention_heads"}, 16), size_of(f, {"attention_head_dim"}, 72), {}, {}};
    Heads cross = h; // xDiT's attention of PixArt is one class for both
    cross.exchanged = true;
    const std::int64_t width = h.width(), patch = size_of(f, {"patch_size"}, 2),
                       in = size_of(f, {"in_channels"}, 4),
                       out = patch * patch * size_of(f, {"out_channels"}, 8),
                       layers = blocks_of(f, {"num_layers"}, 28),
                       caption = size_of(f, {"caption_channels"}, 4096),
                       context = size_of(f, {"cross_attention_dim"}, width);
    const bool bias = f.flag({"attention_bias"}, true);
    if (f.flag({"use_additional_conditions"}))
        f.refuse("use_additional_conditions", "sizes of the image as an input are not known");
    f.skip({"activation_fn", "norm_type", "sample_size", "interpolation_scale", "num_embeds_ada_norm",
            "attention_type"});
    const Axis batch(place.batch);
    const TensorId latents = g.given("hidden_states", {batch, in, place.side("height"), place.side("width")}),
                   given = g.given("encoder_hidden_states", {batch, place.text_axis(), caption});
    const auto [time, shared] = shared_modulation(g, "adaln_single", batch, width);
    const TensorId text = g.perceptron("caption_projection/linear_1", "caption_projection/linear_2", given,
                                       caption, width, width, "gelu");
    TensorId x = patches(g, "pos_embed", latents, in, width, patch);
    x = g.add("pos_embed", x, g.given("pos_embed", {1, Axis(place.image_tokens(patch)), width}));
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "transformer_blocks." + std::to_string(i);
        const auto m = table(g, path, shared, width, 6);
        TensorId y = g.modulate(path + "/norm1", g.layer_norm(path + "/norm1", x, width, false), m[0], m[1]);
        x = g.gated(path + "/attn1", x, m[2], attention(g, path + "/attn1", y, width, y, width, h, bias));
        x = g.add(path, x, attention(g, path + "/attn2", x, width, text, context, cross, bias));
        y = g.modulate(path + "/norm2", g.layer_norm(path + "/norm2", x, width, false), m[3], m[4]);
        x = g.gated(
            path + "/ff", x, m[5],
            g.perceptron(path + "/ff/net.0/proj", path + "/ff/net.2", y, width, 4 * width, width, "gelu"));
    }
    g.output(modulated_out(g, x, time, width, out), {batch, Axis(place.image_tokens(patch)), out});
    return finished(g, f);
}

Graph build_sana(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    Heads own{size_of(f, {"num_attention_heads"}, 70), size_of(f, {"attention_head_dim"}, 32), {}, {}},
        cross{size_of(f, {"num_cross_attention_heads"}, 20),
              size_of(f, {"cross_attention_head_dim"}, 112),
              {},
              {}};
    if (!f.text({"qk_norm"}).empty())
        own.norm = cross.norm = Heads::Norm::across;
    const std::int64_t width = own.width(), patch = size_of(f, {"patch_size"}, 1),
                       in = size_of(f, {"in_channels"}, 32),
                       out = patch * patch * size_of(f, {"out_channels"}, in),
                       layers = blocks_of(f, {"num_layers"}, 20),
                       caption = size_of(f, {"caption_channels"}, 2304),
                       context = size_of(f, {"cross_attention_dim"}, width),
                       inner = static_cast<std::int64_t>(f.number({"mlp_ratio"}, 2.5) *
                                                         static_cast<double>(width));
    const bool bias = f.flag({"attention_bias"});
    if (f.flag({"guidance_embeds"}))
        f.refuse("guidance_embeds", "its scale as an input is not known for this denoiser");
    f.skip({"sample_size", "guidance_embeds_scale", "timestep_scale", "interpolation_scale"});
    const Axis batch(place.batch);
    const TensorId latents = g.given("hidden_states", {batch, in, place.side("height"), place.side("width")}),
                   given = g.given("encoder_hidden_states", {batch, place.text_axis(), caption});
    const auto [time, shared] = shared_modulation(g, "time_embed", batch, width);
    const TensorId text =
        g.rms_norm("caption_norm",
                   g.perceptron("caption_projection/linear_1", "caption_projection/linear_2", given, caption,
                                width, width, "gelu"),
                   width);
    const TensorId image =
        g.convolution("patch_embed/proj", latents, in, width, {.size = patch, .stride = patch});
    const TensorId shape = g.node("Shape", "patch_embed", {image});
    TensorId x = g.tokens("patch_embed", image, width);
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "transformer_blocks." + std::to_string(i), mlp = path + "/ff";
        const auto m = table(g, path, shared, width, 6);
        TensorId y = g.modulate(path + "/norm1", g.layer_norm(path + "/norm1", x, width, false), m[0], m[1]);
        x = g.gated(path + "/attn1", x, m[2], linear_attention(g, path + "/attn1", y, width, own, bias));
        x = g.add(path, x, attention(g, path + "/attn2", x, width, text, context, cross));
        y = g.modulate(path + "/norm2", g.layer_norm(path + "/norm2", x, width, false), m[3], m[4]);
        y = g.node("Reshape", mlp, {g.transpose(mlp, y, {0, 2, 1}), shape});
        y = g.silu(mlp, g.convolution(mlp + "/conv_inverted", y, width, 2 * inner));
        y = g.convolution(mlp + "/conv_depth", y, 2 * inner, 2 * inner, {.size = 3, .groups = 2 * inner});
        const auto halves = g.split(mlp, y, 2, 1);
        y = g.multiply(mlp, halves[0], g.silu(mlp + "/gate", halves[1]));
        y = g.tokens(mlp + "/out", g.convolution(mlp + "/conv_point", y, inner, width, {.bias = false}),
                     width);
        x = g.gated(mlp, x, m[5], y);
    }
    g.output(modulated_out(g, x, time, width, out), {batch, Axis(place.image_tokens(patch)), out});
    return finished(g, f);
}

Graph build_hunyuan_dit(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    Heads own{size_of(f, {"num_attention_heads"}, 16),
              size_of(f, {"attention_head_dim"}, 88),
              Heads::Norm::per_head,
              {}};
    const std::int64_t width = own.width(), hidden = size_of(f, {"hidden_size"}, width),
                       patch = size_of(f, {"patch_size"}, 2), in = size_of(f, {"in_channels"}, 4),
                       out = patch * patch * in * (f.flag({"learn_sigma"}, true) ? 2 : 1),
                       layers = blocks_of(f, {"num_layers"}, 28),
                       clip = size_of(f, {"cross_attention_dim"}, 1024),
                       t5 = size_of(f, {"cross_attention_dim_t5"}, 2048),
                       pooled = size_of(f, {"pooled_projection_dim"}, 1024),
                       words = size_of(f, {"text_len"}, 77), words_t5 = size_of(f, {"text_len_t5"}, 256),
                       inner = static_cast<std::int64_t>(f.number({"mlp_ratio"}, 4.0) *
                                                         static_cast<double>(width));
    if (f.flag({"use_style_cond_and_image_meta_size"}, true))
        f.refuse("use_style_cond_and_image_meta_size",
                 "style and sizes of the image as inputs (version 1.1) are not known");
    if (hidden != width)
        f.refuse("hidden_size", "is not the heads times their size");
    f.skip({"activation_fn", "norm_type", "sample_size"});
    const Axis batch(place.batch);
    own.positions = place.image_tokens(patch);
    const TensorId latents = g.given("hidden_states", {batch, in, place.side("height"), place.side("width")}),
                   short_text = g.given("encoder_hidden_states", {batch, words, clip}),
                   long_text = g.given("encoder_hidden_states_t5", {batch, words_t5, t5});
    const TensorId projected =
        g.perceptron("text_embedder/linear_1", "text_embedder/linear_2", long_text, t5, 4 * t5, clip, "silu");
    TensorId text = g.concatenate("text_embedder", {short_text, projected}, 1);
    text = g.node("Where", "text_embedder",
                  {g.input("text_mask", DataType::boolean, {batch, words + words_t5, 1}), text,
                   g.weight("text_embedding_padding", "", {words + words_t5, clip})});
    // The prompt as one vector: attention of its mean over its tokens.
    const std::string pool = "time_extra_emb/pooler", extra = "time_extra_emb/extra_embedder";
    TensorId mean = g.node("ReduceMean", pool, {long_text, g.ints({1})}, {{"keepdims", std::int64_t{1}}});
    TensorId all = g.concatenate(pool, {mean, long_text}, 1);
    all = g.add(pool, all, g.weight(pool + "/positional_embedding", "", {words_t5 + 1, t5}));
    const TensorId first = g.node("Slice", pool, {all, g.ints({0}), g.ints({1}), g.ints({1})});
    constexpr std::int64_t kPoolHeads = 8; // diffusers, HunyuanDiTAttentionPool
    const TensorId attended = g.attention(pool, g.linear(pool + "/q_proj", first, t5, t5, true),
                                          g.linear(pool + "/k_proj", all, t5, t5, true),
                                          g.linear(pool + "/v_proj", all, t5, t5, true), kPoolHeads);
    const TensorId vector = g.linear(pool + "/c_proj", attended, t5, pooled, true);
    const TensorId conditioning = g.add(
        "time_extra_emb", g.time_embedding("time_extra_emb/timestep_embedder", batch, kWaves, width),
        g.perceptron(extra + "/linear_1", extra + "/linear_2", vector, pooled, 4 * width, width, "silu"));
    Heads cross = own;
    TensorId x = patches(g, "pos_embed", latents, in, width, patch);
    std::vector<TensorId> skips;
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "blocks." + std::to_string(i);
        if (i > layers / 2 && !skips.empty()) {
            TensorId both = g.concatenate(path, {x, skips.back()}, -1);
            skips.pop_back();
            both = g.layer_norm(path + "/skip_norm", both, 2 * width);
            x = g.linear(path + "/skip_linear", both, 2 * width, width, true);
        }
        const TensorId shift = g.modulation(path + "/norm1/linear", conditioning, width, 1).front();
        TensorId y = g.add(path + "/norm1", g.layer_norm(path + "/norm1/norm", x, width), shift);
        x = g.add(path, x, attention(g, path + "/attn1", y, width, y, width, own));
        y = g.layer_norm(path + "/norm2", x, width);
        x = g.add(path, x, attention(g, path + "/attn2", y, width, text, clip, cross));
        y = g.layer_norm(path + "/norm3", x, width);
        x = g.add(path, x,
                  g.perceptron(path + "/ff/net.0/proj", path + "/ff/net.2", y, width, inner, width, "gelu"));
        if (i < layers / 2 - 1)
            skips.push_back(x);
    }
    const auto m = g.modulation("norm_out/linear", conditioning, width, 2);
    x = g.modulate("norm_out", g.layer_norm("norm_out", x, width, false), m[1], m[0]);
    g.output(g.linear("proj_out", x, width, out, true), {batch, Axis(place.image_tokens(patch)), out});
    return finished(g, f);
}

} // namespace archsim::checkpoint
