// Denoisers in which text and image attend to each other as one sequence, each with weights of its own
// (MMDiT, Esser et al., arXiv:2403.03206): Stable Diffusion 3, FLUX.1 and Qwen-Image, as diffusers runs them.

#include "checkpoint/diffusion/net.hpp"

namespace archsim::checkpoint {

struct Stream {
    Net& g;
    std::int64_t heads = 0, size = 0;
    bool head_norms = true;
    std::string positions; ///< tokens whose queries and keys are rotated; empty: none
    TensorId conditioning = kNoTensor;

    std::int64_t width() const { return heads * size; }
};

struct StreamQueries {
    TensorId q, k, v;
};

static StreamQueries project(Stream& s, const std::string& path, const std::string& prefix,
                             const std::string& norms, TensorId x) {
    const std::int64_t width = s.width();
    StreamQueries p{
        s.g.linear(path + "/" + prefix + "q" + (prefix == "add_" ? "_proj" : ""), x, width, width, true),
        s.g.linear(path + "/" + prefix + "k" + (prefix == "add_" ? "_proj" : ""), x, width, width, true),
        s.g.linear(path + "/" + prefix + "v" + (prefix == "add_" ? "_proj" : ""), x, width, width, true)};
    if (s.head_norms) {
        p.q = s.g.norm_heads(path + "/" + norms + "q", p.q, s.heads, s.size);
        p.k = s.g.norm_heads(path + "/" + norms + "k", p.k, s.heads, s.size);
    }
    return p;
}

static TensorId attend(Stream& s, const std::string& path, StreamQueries p) {
    if (!s.positions.empty()) {
        p.q = s.g.rotate(path + "/q", p.q, s.heads, s.size, s.positions);
        p.k = s.g.rotate(path + "/k", p.k, s.heads, s.size, s.positions);
    }
    const auto exchanged = [&](const std::string& name, TensorId x) {
        return s.g.exchanged(path + name, x, s.heads, s.size);
    };
    p.q = exchanged("/q", p.q);
    p.k = s.g.with_others(path + "/k", exchanged("/k", p.k), s.width());
    p.v = s.g.with_others(path + "/v", exchanged("/v", p.v), s.width());
    return exchanged("", s.g.attention(path, p.q, p.k, p.v, s.heads));
}

static TensorId feed_forward(Stream& s, const std::string& path, TensorId x) {
    const std::int64_t width = s.width();
    return s.g.perceptron(path + "/net.0/proj", path + "/net.2", x, width, 4 * width, width, "gelu");
}

/// The streams of image and text tokens.
struct Pair {
    TensorId image, text;
};

/// A block of two streams. `dual`: the image attends to itself alone, too; `last`: the text ends here.
static Pair joint_block(Stream& s, const std::string& path, Pair x, bool dual = false, bool last = false) {
    Net& g = s.g;
    const std::int64_t width = s.width();
    const auto normed = [&](const std::string& name, TensorId of) {
        return g.layer_norm(path + "/" + name, of, width, false);
    };
    // Shift, scale and gate of attention, then of the feed-forward half; of the second attention where there
    // is one.
    const auto image = g.modulation(path + "/norm1/linear", s.conditioning, width, dual ? 9 : 6);
    const auto text = g.modulation(path + "/norm1_context/linear", s.conditioning, width, last ? 2 : 6);
    const TensorId plain = normed("norm1", x.image);
    const TensorId image_in = g.modulate(path + "/norm1", plain, image[0], image[1]);
    const TensorId text_in =
        g.modulate(path + "/norm1_context", normed("norm1_context", x.text), text[0], text[1]);
    const std::string mixer = path + "/attn";
    const StreamQueries own = project(s, mixer, "to_", "norm_", image_in);
    const StreamQueries added = project(s, mixer, "add_", "norm_added_", text_in);
    const TensorId all = attend(s, mixer,
                                {g.concatenate(mixer + "/q", {added.q, own.q}, 1),
                                 g.concatenate(mixer + "/k", {added.k, own.k}, 1),
                                 g.concatenate(mixer + "/v", {added.v, own.v}, 1)});
    TensorId y = g.linear(mixer + "/to_out", g.other_tokens(mixer, all, x.text), width, width, true);
    Pair out{g.gated(path, x.image, image[2], y), kNoTensor};
    if (dual) {
        Stream alone = s;
        alone.positions.clear();
        const TensorId again = g.modulate(path + "/norm1_2", plain, image[6], image[7]);
        y = attend(alone, path + "/attn2", project(alone, path + "/attn2", "to_", "norm_", again));
        y = g.linear(path + "/attn2/to_out", y, width, width, true);
        out.image = g.gated(path + "/attn2", out.image, image[8], y);
    }
    y = g.modulate(path + "/norm2", normed("norm2", out.image), image[3], image[4]);
    out.image = g.gated(path + "/ff", out.image, image[5], feed_forward(s, path + "/ff", y));
    if (last)
        return out;
    y = g.linear(mixer + "/to_add_out", g.first_tokens(mixer, all, x.text), width, width, true);
    out.text = g.gated(path + "/context", x.text, text[2], y);
    y = g.modulate(path + "/norm2_context", normed("norm2_context", out.text), text[3], text[4]);
    out.text = g.gated(path + "/ff_context", out.text, text[5], feed_forward(s, path + "/ff_context", y));
    return out;
}

/// A block of one stream, attention beside the feed-forward half (FLUX.1).
static TensorId single_block(Stream& s, const std::string& path, TensorId x) {
    Net& g = s.g;
    const std::int64_t width = s.width(), inner = 4 * width;
    const auto m = g.modulation(path + "/norm/linear", s.conditioning, width, 3);
    const TensorId normed =
        g.modulate(path + "/norm", g.layer_norm(path + "/norm", x, width, false), m[0], m[1]);
    const TensorId hidden = g.gelu(path, g.linear(path + "/proj_mlp", normed, width, inner, true));
    const TensorId mixed = attend(s, path + "/attn", project(s, path + "/attn", "to_", "norm_", normed));
    const TensorId both = g.concatenate(path, {mixed, hidden}, -1);
    return g.gated(path, x, m[2], g.linear(path + "/proj_out", both, width + inner, width, true));
}

static TensorId projected_out(Stream& s, TensorId x, std::int64_t channels) {
    const auto m = s.g.modulation("norm_out/linear", s.conditioning, s.width(), 2);
    x = s.g.modulate("norm_out", s.g.layer_norm("norm_out", x, s.width(), false), m[1], m[0]);
    return s.g.linear("proj_out", x, s.width(), channels, true);
}

static Stream stream(Net& g, Fields& f) {
    Stream s{.g = g, .positions = {}};
    s.heads = size_of(f, {"num_attention_heads"}, 24);
    s.size = size_of(f, {"attention_head_dim"}, 128);
    return s;
}

/// The vectors of time, of guidance where the model takes its scale as an input, and of the pooled prompt.
static TensorId conditioning(Stream& s, const Axis& batch, bool guidance, std::int64_t pooled) {
    Net& g = s.g;
    const std::string path = "time_text_embed";
    TensorId sum = g.time_embedding(path + "/timestep_embedder", batch, kWaves, s.width());
    if (guidance)
        sum = g.add(path, sum,
                    g.time_embedding(path + "/guidance_embedder", batch, kWaves, s.width(), "guidance"));
    if (pooled > 0) {
        const std::string text = path + "/text_embedder";
        sum = g.add(path, sum,
                    g.perceptron(text + "/linear_1", text + "/linear_2",
                                 g.given("pooled_projections", {batch, 1, pooled}), pooled, s.width(),
                                 s.width(), "silu"));
    }
    return sum;
}

Graph build_sd3(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    Stream s = stream(g, f);
    const std::int64_t patch = size_of(f, {"patch_size"}, 2), in = size_of(f, {"in_channels"}, 16),
                       out = size_of(f, {"out_channels"}, in), layers = blocks_of(f, {"num_layers"}, 18),
                       joint = size_of(f, {"joint_attention_dim"}, 4096),
                       caption = size_of(f, {"caption_projection_dim"}, s.width()),
                       pooled = size_of(f, {"pooled_projection_dim"}, 2048),
                       side = size_of(f, {"pos_embed_max_size"}, 96);
    const std::vector<std::int64_t> dual = f.counts({"dual_attention_layers"});
    s.head_norms = !f.text({"qk_norm"}).empty();
    f.skip({"sample_size"});
    if (caption != s.width())
        f.refuse("caption_projection_dim", "text of another width than the image is not known");
    const Axis batch(place.batch);
    const TensorId latents = g.given("hidden_states", {batch, in, place.side("height"), place.side("width")}),
                   text = g.given("encoder_hidden_states", {batch, place.text_axis(), joint});
    s.conditioning = conditioning(s, batch, false, pooled);
    const TensorId patches =
        g.convolution("pos_embed/proj", latents, in, s.width(), {.size = patch, .stride = patch});
    const TensorId table = g.buffer("pos_embed/pos_embed", {1, side * side, s.width()});
    Pair x{g.tokens("pos_embed", patches, s.width()),
           g.linear("context_embedder", text, joint, s.width(), true)};
    x.image = g.add("pos_embed", x.image, g.first_tokens("pos_embed", table, x.image));
    for (std::int64_t i = 0; i < layers; ++i)
        x = joint_block(s, "transformer_blocks." + std::to_string(i), x,
                        std::ranges::find(dual, i) != dual.end(), i == layers - 1);
    g.output(projected_out(s, x.image, patch * patch * out),
             {batch, Axis(place.image_tokens(patch)), patch * patch * out});
    return finished(g, f);
}

Graph build_flux(Fields& f, const Decoder& base, const PartPlace& place) {
    // Pipelines pack 2 x 2 latents into a token before they ask the denoiser.
    constexpr std::int64_t kPacked = 2;
    Net g(base, place);
    Stream s = stream(g, f);
    const std::int64_t patch = size_of(f, {"patch_size"}, 1), in = size_of(f, {"in_channels"}, 64),
                       out = patch * patch * size_of(f, {"out_channels"}, in),
                       pairs = blocks_of(f, {"num_layers"}, 19),
                       singles = blocks_of(f, {"num_single_layers"}, 38),
                       joint = size_of(f, {"joint_attention_dim"}, 4096),
                       pooled = size_of(f, {"pooled_projection_dim"}, 768);
    const bool guidance = f.flag({"guidance_embeds"});
    f.skip({"axes_dims_rope"});
    const Axis batch(place.batch);
    const std::string tokens = place.image_tokens(kPacked * patch);
    s.positions = place.text + "+" + tokens;
    const TensorId latents = g.given("hidden_states", {batch, Axis(tokens), in}),
                   text = g.given("encoder_hidden_states", {batch, place.text_axis(), joint});
    s.conditioning = conditioning(s, batch, guidance, pooled);
    Pair x{g.linear("x_embedder", latents, in, s.width(), true),
           g.linear("context_embedder", text, joint, s.width(), true)};
    for (std::int64_t i = 0; i < pairs; ++i)
        x = joint_block(s, "transformer_blocks." + std::to_string(i), x);
    TensorId all = g.concatenate("single_transformer_blocks", {x.text, x.image}, 1);
    for (std::int64_t i = 0; i < singles; ++i)
        all = single_block(s, "single_transformer_blocks." + std::to_string(i), all);
    if (singles > 0)
        x.image = g.other_tokens("single_transformer_blocks", all, x.text);
    g.output(projected_out(s, x.image, out), {batch, Axis(tokens), out});
    return finished(g, f);
}

Graph build_qwen_image(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    Stream s = stream(g, f);
    const std::int64_t patch = size_of(f, {"patch_size"}, 2), in = size_of(f, {"in_channels"}, 64),
                       out = patch * patch * size_of(f, {"out_channels"}, in),
                       layers = blocks_of(f, {"num_layers"}, 60),
                       joint = size_of(f, {"joint_attention_dim"}, 3584);
    if (f.flag({"guidance_embeds"}))
        f.refuse("guidance_embeds", "its scale as an input is not known for this denoiser");
    f.skip({"axes_dims_rope", "pooled_projection_dim"});
    const Axis batch(place.batch);
    const std::string tokens = place.image_tokens(patch);
    s.positions = place.text + "+" + tokens;
    const TensorId latents = g.given("hidden_states", {batch, Axis(tokens), in}),
                   text = g.given("encoder_hidden_states", {batch, place.text_axis(), joint});
    s.conditioning = conditioning(s, batch, false, 0);
    Pair x{g.linear("img_in", latents, in, s.width(), true),
           g.linear("txt_in", g.rms_norm("txt_norm", text, joint), joint, s.width(), true)};
    for (std::int64_t i = 0; i < layers; ++i)
        x = joint_block(s, "transformer_blocks." + std::to_string(i), x);
    g.output(projected_out(s, x.image, out), {batch, Axis(tokens), out});
    return finished(g, f);
}

} // namespace archsim::checkpoint
