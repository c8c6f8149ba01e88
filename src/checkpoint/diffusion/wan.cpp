// Video: the denoiser of Wan (arXiv:2503.20314), and the causal decoder of latents that it shares with
// Qwen-Image (arXiv:2508.02324), as diffusers runs them. An image is a video of one frame.

#include "checkpoint/diffusion/net.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

/// A convolution over frames, rows and columns; of frames only those before are seen.
struct Volume {
    std::int64_t frames = 3, side = 3, frame_stride = 1, side_stride = 1;
    bool padded = true;
};

/// A decoder of videos runs for one frame of latents at a time, and each convolution keeps the frames before
/// that it sees (diffusers, models/autoencoders/autoencoder_kl_wan.py: _decode, feat_cache). What a call
/// leaves for the next lies where the call before had it.
struct FrameStream {
    const PartPlace* place = nullptr; ///< null: all frames at once
    std::int64_t scale = 1;           ///< sides here per side of the latents
    Axis side(const char* of) const { return std::to_string(scale) + "*" + place->side(of); }
};

static TensorId convolution(Net& g, const std::string& path, TensorId x, std::int64_t n_in,
                            std::int64_t n_out, Volume v = {}, const FrameStream& stream = {}) {
    std::int64_t before = v.padded ? v.frames - 1 : 0;
    const std::int64_t pad = v.padded ? v.side / 2 : 0;
    if (stream.place != nullptr && before > 0) {
        const TensorId kept = g.given(path + "/frames_before", {Axis(stream.place->batch), n_in, before,
                                                                stream.side("height"), stream.side("width")});
        x = g.concatenate(path + "/frames", {kept, x}, 2);
        before = 0;
    }
    return g.node("Conv", path,
                  {x, g.weight(path, "weight", {n_out, n_in, v.frames, v.side, v.side}, true),
                   g.weight(path, "bias", {n_out})},
                  {{"kernel_shape", std::vector<std::int64_t>{v.frames, v.side, v.side}},
                   {"strides", std::vector<std::int64_t>{v.frame_stride, v.side_stride, v.side_stride}},
                   {"pads", std::vector<std::int64_t>{before, pad, pad, 0, pad, pad}}});
}

/// A root mean square norm over the channels of a video.
static TensorId volume_norm(Net& g, const std::string& path, TensorId x, std::int64_t channels) {
    x = g.rms_norm(path, g.transpose(path + "/last", x, {0, 2, 3, 4, 1}), channels);
    return g.transpose(path + "/first", x, {0, 4, 1, 2, 3});
}

static TensorId residual(Net& g, const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                         const FrameStream& stream) {
    TensorId y = g.silu(path, volume_norm(g, path + "/norm1", x, n_in));
    y = convolution(g, path + "/conv1", y, n_in, n_out, {}, stream);
    y = g.silu(path + "/2", volume_norm(g, path + "/norm2", y, n_out));
    y = convolution(g, path + "/conv2", y, n_out, n_out, {}, stream);
    if (n_in != n_out)
        x = convolution(g, path + "/conv_shortcut", x, n_in, n_out, {.frames = 1, .side = 1});
    return g.add(path + "/sum", x, y);
}

/// Frames as images, [batch x frames, channels, height, width], and back to the shape of `like`.
static TensorId as_images(Net& g, const std::string& path, TensorId x) {
    const TensorId shape = g.node("Shape", path, {x});
    const TensorId image = g.node("Gather", path, {shape, g.ints({1, 3, 4})}, {{"axis", std::int64_t{0}}});
    return g.node(
        "Reshape", path,
        {g.transpose(path, x, {0, 2, 1, 3, 4}), g.concatenate(path + "/shape", {g.ints({-1}), image}, 0)});
}

/// The inverse, of images of other sides and channels than `like`'s, with as many frames.
static TensorId as_video(Net& g, const std::string& path, TensorId images, TensorId like) {
    const TensorId shape = g.node("Shape", path, {like}), own = g.node("Shape", path + "/own", {images});
    const TensorId first = g.node("Gather", path, {shape, g.ints({0, 2})}, {{"axis", std::int64_t{0}}}),
                   last =
                       g.node("Gather", path + "/own", {own, g.ints({1, 2, 3})}, {{"axis", std::int64_t{0}}});
    const TensorId video =
        g.node("Reshape", path, {images, g.concatenate(path + "/shape", {first, last}, 0)});
    return g.transpose(path + "/back", video, {0, 2, 1, 3, 4});
}

/// Attention of each frame's pixels, one head.
static TensorId attention(Net& g, const std::string& path, TensorId x, std::int64_t width) {
    const TensorId images = as_images(g, path, volume_norm(g, path + "/norm", x, width));
    const auto qkv =
        g.split(path + "/to_qkv", g.convolution(path + "/to_qkv", images, width, 3 * width), 3, 1);
    TensorId y = g.attention(path, g.tokens(path + "/q", qkv[0], width), g.tokens(path + "/k", qkv[1], width),
                             g.tokens(path + "/v", qkv[2], width), 1);
    y = g.node("Reshape", path + "/image",
               {g.transpose(path + "/image", y, {0, 2, 1}), g.node("Shape", path + "/image", {images})});
    y = g.convolution(path + "/proj", y, width, width);
    return g.add(path, x, as_video(g, path + "/video", y, x));
}

/// Twice the frames; of all at once but for the first, which has no predecessor.
static TensorId more_frames(Net& g, const std::string& path, TensorId x, std::int64_t width,
                            const FrameStream& stream) {
    const TensorId y =
        convolution(g, path + "/time_conv", x, width, 2 * width, {.frames = 3, .side = 1}, stream);
    const auto halves = g.split(path + "/time_conv", y, 2, 1);
    const auto apart = [&](std::size_t i) {
        return g.node("Unsqueeze", path + "/half" + std::to_string(i), {halves[i], g.ints({3})});
    };
    const TensorId pairs = g.concatenate(path + "/pairs", {apart(0), apart(1)}, 3);
    const TensorId shape = g.node("Shape", path, {x});
    const TensorId first = g.node("Gather", path, {shape, g.ints({0, 1})}, {{"axis", std::int64_t{0}}}),
                   last = g.node("Gather", path + "/sides", {shape, g.ints({3, 4})},
                                 {{"axis", std::int64_t{0}}});
    const TensorId all =
        g.node("Reshape", path, {pairs, g.concatenate(path + "/shape", {first, g.ints({-1}), last}, 0)});
    return stream.place != nullptr
               ? all
               : g.node("Slice", path, {all, g.ints({1}), g.ints({1 << 20}), g.ints({2})});
}

Graph build_wan(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base, place);
    const std::int64_t heads = size_of(f, {"num_attention_heads"}),
                       size = size_of(f, {"attention_head_dim"}, 128), width = heads * size,
                       in = size_of(f, {"in_channels"}, 16), out = size_of(f, {"out_channels"}, in),
                       words = size_of(f, {"text_dim"}, 4096), waves = size_of(f, {"freq_dim"}, 256),
                       inner = size_of(f, {"ffn_dim"}), layers = blocks_of(f, {"num_layers"});
    const std::vector<std::int64_t> patch = sizes_of(f, "patch_size");
    if (patch.size() != 3 || patch[1] != patch[2])
        f.refuse("patch_size", "frames, height and width of a patch are needed, the last two alike");
    if (f.has({"image_dim"}) || f.has({"added_kv_proj_dim"}))
        f.refuse("image_dim", "an image as a second prompt is not known");
    const bool normed = f.flag({"cross_attn_norm"}, true);
    f.skip({"rope_max_seq_len", "qk_norm", "pos_embed_seq_len"});
    const Axis batch(place.batch);
    const std::string frames = place.latent_frames(patch[0]),
                      tokens = "(" + frames + ")*" + place.image_tokens(patch[1]);
    const TensorId latents = g.given("hidden_states", {batch, in, PartPlace::axis(place.latent_frames(1)),
                                                       place.side("height"), place.side("width")}),
                   prompt = g.given("encoder_hidden_states", {batch, place.text_axis(), words});
    const std::string given = "condition_embedder";
    const TensorId time = g.time_embedding(given + "/time_embedder", batch, waves, width);
    const TensorId shared = g.linear(given + "/time_proj", g.silu(given, time), width, 6 * width, true);
    const TensorId text = g.perceptron(given + "/text_embedder/linear_1", given + "/text_embedder/linear_2",
                                       prompt, words, width, width, "gelu");
    TensorId x = convolution(g, "patch_embedding", latents, in, width,
                             {.frames = patch[0],
                              .side = patch[1],
                              .frame_stride = patch[0],
                              .side_stride = patch[1],
                              .padded = false});
    x = g.tokens("patch_embedding", x, width);
    const auto exchanged = [&](const std::string& path, TensorId t) {
        return g.exchanged(path, t, heads, size);
    };
    const auto attend = [&](const std::string& path, TensorId y, TensorId of, bool turned) {
        TensorId q = g.composed_norm(path + "/norm_q", g.linear(path + "/to_q", y, width, width, true),
                                     width),
                 k = g.composed_norm(path + "/norm_k", g.linear(path + "/to_k", of, width, width, true),
                                     width);
        TensorId v = g.linear(path + "/to_v", of, width, width, true);
        if (turned) {
            q = exchanged(path + "/q", g.rotate(path + "/q", q, heads, size, tokens));
            k = g.with_others(path + "/k",
                              exchanged(path + "/k", g.rotate(path + "/k", k, heads, size, tokens)), width);
            v = g.with_others(path + "/v", exchanged(path + "/v", v), width);
        }
        TensorId seen = g.attention(path, q, k, v, heads);
        if (turned)
            seen = exchanged(path, seen);
        return g.linear(path + "/to_out", seen, width, width, true);
    };
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "blocks." + std::to_string(i);
        const TensorId own = g.weight(path + "/scale_shift_table", "", {1, 6 * width});
        const auto m =
            g.split(path + "/scale_shift_table", g.add(path + "/scale_shift_table", shared, own), 6);
        TensorId y = g.modulate(path + "/norm1", g.layer_norm(path + "/norm1", x, width, false), m[0], m[1]);
        x = g.gated(path + "/attn1", x, m[2], attend(path + "/attn1", y, y, true));
        y = normed ? g.layer_norm(path + "/norm2", x, width) : x;
        x = g.add(path, x, attend(path + "/attn2", y, text, false));
        y = g.modulate(path + "/norm3", g.layer_norm(path + "/norm3", x, width, false), m[3], m[4]);
        x = g.gated(
            path + "/ffn", x, m[5],
            g.perceptron(path + "/ffn/net.0/proj", path + "/ffn/net.2", y, width, inner, width, "gelu"));
    }
    const TensorId last = g.weight("scale_shift_table", "", {1, 2, width});
    const auto m = g.split("scale_shift_table", g.add("scale_shift_table", last, time), 2, 1);
    x = g.modulate("norm_out", g.layer_norm("norm_out", x, width, false), m[0], m[1]);
    const std::int64_t pixels = out * patch[0] * patch[1] * patch[2];
    g.output(g.linear("proj_out", x, width, pixels, true), {batch, Axis(tokens), pixels});
    return finished(g, f);
}

Graph build_wan_decoder(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    const std::int64_t narrow = size_of(f, {"decoder_base_dim", "base_dim"}, 96),
                       latent = size_of(f, {"z_dim"}, 16), layers = size_of(f, {"num_res_blocks"}, 2) + 1;
    std::vector<std::int64_t> widths = sizes_of(f, "dim_mult");
    const std::size_t blocks = widths.size();
    if (f.flag({"is_residual"}))
        f.refuse("is_residual", "the decoder of Wan 2.2 5B, with shortcuts around its blocks, is not known");
    std::vector<bool> grows; // frames, of each block from the latents on
    if (const nlohmann::json* const steps = f.find({"temperal_downsample"});
        steps != nullptr && steps->is_array())
        for (const nlohmann::json& step : *steps)
            grows.push_back(step.is_boolean() && step.get<bool>());
    if (grows.size() + 1 != blocks)
        f.refuse("temperal_downsample", fmt::format("{} of {} blocks are needed", blocks - 1, blocks));
    std::reverse(widths.begin(), widths.end());
    std::reverse(grows.begin(), grows.end());
    f.skip({"latents_mean", "latents_std", "attn_scales", "in_channels", "out_channels",
            "scale_factor_spatial", "scale_factor_temporal", "base_dim", "clip_output"});
    check_blocks(f, "num_res_blocks", static_cast<double>(layers) * static_cast<double>(blocks));
    const Axis batch(place.batch);
    FrameStream stream{place.frames > 0 ? &place : nullptr};
    TensorId x = g.given("latents", {batch, latent, 1, place.side("height"), place.side("width")});
    x = convolution(g, "post_quant_conv", x, latent, latent, {.frames = 1, .side = 1});
    std::int64_t width = narrow * widths.front();
    x = convolution(g, "decoder/conv_in", x, latent, width, {}, stream);
    x = residual(g, "decoder/mid_block/resnets.0", x, width, width, stream);
    x = attention(g, "decoder/mid_block/attentions.0", x, width);
    x = residual(g, "decoder/mid_block/resnets.1", x, width, width, stream);
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::string path = "decoder/up_blocks." + std::to_string(b);
        for (std::int64_t i = 0; i < layers; ++i) {
            x = residual(g, path + "/resnets." + std::to_string(i), x, width, narrow * widths[b], stream);
            width = narrow * widths[b];
        }
        if (b + 1 == blocks)
            break;
        const std::string up = path + "/upsamplers.0";
        if (grows[b])
            x = more_frames(g, up, x, width, stream);
        const TensorId images = g.enlarge(up, as_images(g, up + "/images", x));
        x = as_video(g, up + "/video",
                     g.convolution(up + "/resample.1", images, width, width / 2, {.size = 3}), x);
        width /= 2;
        stream.scale *= 2;
    }
    constexpr std::int64_t kColours = 3;
    x = g.silu("decoder/norm_out", volume_norm(g, "decoder/norm_out", x, width));
    x = convolution(g, "decoder/conv_out", x, width, kColours, {}, stream);
    g.output(x, {batch, kColours, std::max<std::int64_t>(1, place.frames), place.pixels_of("height"),
                 place.pixels_of("width")});
    return finished(g, f);
}

} // namespace archsim::checkpoint
