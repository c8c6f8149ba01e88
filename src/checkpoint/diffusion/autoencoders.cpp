// From latents to pixels: the decoder of diffusers' AutoencoderKL, residual blocks of convolutions with one
// layer of attention at the lowest resolution.

#include "checkpoint/diffusion/net.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

static TensorId residual(Net& g, const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                         std::int64_t groups) {
    TensorId y = g.silu(path, g.group_norm(path + "/norm1", x, n_in, groups));
    y = g.convolution(path + "/conv1", y, n_in, n_out, {.size = 3});
    y = g.silu(path + "/2", g.group_norm(path + "/norm2", y, n_out, groups));
    y = g.convolution(path + "/conv2", y, n_out, n_out, {.size = 3});
    if (n_in != n_out)
        x = g.convolution(path + "/conv_shortcut", x, n_in, n_out);
    return g.add(path + "/sum", x, y);
}

/// One head as wide as the channels.
static TensorId attention(Net& g, const std::string& path, TensorId x, std::int64_t width,
                          std::int64_t groups) {
    const TensorId y = g.tokens(path, g.group_norm(path + "/group_norm", x, width, groups), width);
    const TensorId q = g.linear(path + "/to_q", y, width, width, true),
                   k = g.linear(path + "/to_k", y, width, width, true),
                   v = g.linear(path + "/to_v", y, width, width, true);
    const TensorId out = g.linear(path + "/to_out", g.attention(path, q, k, v, 1), width, width, true);
    const TensorId shape = g.node("Shape", path, {x});
    return g.add(path, x, g.node("Reshape", path, {g.transpose(path + "/out", out, {0, 2, 1}), shape}));
}

Graph build_kl_decoder(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    std::vector<std::int64_t> channels = sizes_of(f, "block_out_channels");
    std::reverse(channels.begin(), channels.end());
    const std::int64_t latent = size_of(f, {"latent_channels"}, 4), out = size_of(f, {"out_channels"}, 3),
                       layers = size_of(f, {"layers_per_block"}, 1) + 1,
                       groups = size_of(f, {"norm_num_groups"}, 32);
    const bool rescales = f.flag({"use_post_quant_conv"}, true),
               attends = f.flag({"mid_block_add_attention"}, true);
    f.skip({"act_fn", "sample_size", "in_channels", "down_block_types", "up_block_types", "use_quant_conv",
            "latents_mean", "latents_std", "force_upcast"});
    check_blocks(f, "layers_per_block", static_cast<double>(layers) * static_cast<double>(channels.size()));
    const Axis batch(place.batch);
    TensorId x = g.given("latents", {batch, latent, place.side("height"), place.side("width")});
    if (rescales)
        x = g.convolution("post_quant_conv", x, latent, latent);
    std::int64_t width = channels.front();
    x = g.convolution("decoder/conv_in", x, latent, width, {.size = 3});
    x = residual(g, "decoder/mid_block/resnets.0", x, width, width, groups);
    if (attends)
        x = attention(g, "decoder/mid_block/attentions.0", x, width, groups);
    x = residual(g, "decoder/mid_block/resnets.1", x, width, width, groups);
    for (std::size_t b = 0; b < channels.size(); ++b) {
        const std::string path = "decoder/up_blocks." + std::to_string(b);
        for (std::int64_t i = 0; i < layers; ++i) {
            x = residual(g, path + "/resnets." + std::to_string(i), x, width, channels[b], groups);
            width = channels[b];
        }
        if (b + 1 < channels.size())
            x = g.convolution(path + "/upsamplers.0/conv", g.enlarge(path + "/upsamplers.0", x), width, width,
                              {.size = 3});
    }
    x = g.silu("decoder/conv_norm_out", g.group_norm("decoder/conv_norm_out", x, width, groups));
    x = g.convolution("decoder/conv_out", x, width, out, {.size = 3});
    g.output(x, {batch, out, place.pixels_of("height"), place.pixels_of("width")});
    return finished(g, f);
}

// From strongly compressed latents to pixels: the decoder of diffusers' AutoencoderDC (Chen et al.,
// arXiv:2410.10733), residual blocks of convolutions at high resolutions and linear attention at low ones.

/// A root mean square norm over the channels of an image, with a shift.
static TensorId channel_norm(Net& g, const std::string& path, TensorId x, std::int64_t channels) {
    x = g.rms_norm(path, g.transpose(path + "/last", x, {0, 2, 3, 1}), channels);
    x = g.add(path, x, g.weight(path, "bias", {channels}));
    return g.transpose(path + "/first", x, {0, 3, 1, 2});
}

static TensorId residual(Net& g, const std::string& path, TensorId x, std::int64_t channels) {
    TensorId y = g.silu(path, g.convolution(path + "/conv1", x, channels, channels, {.size = 3}));
    y = g.convolution(path + "/conv2", y, channels, channels, {.size = 3, .bias = false});
    return g.add(path, channel_norm(g, path + "/norm", y, channels), x);
}

/// Convolutions of one pixel around a depthwise one, gated.
static TensorId gated_convolution(Net& g, const std::string& path, TensorId x, std::int64_t channels) {
    constexpr std::int64_t kExpansion = 4; // diffusers, GLUMBConv
    const std::int64_t inner = kExpansion * channels;
    TensorId y = g.silu(path, g.convolution(path + "/conv_inverted", x, channels, 2 * inner));
    y = g.convolution(path + "/conv_depth", y, 2 * inner, 2 * inner, {.size = 3, .groups = 2 * inner});
    const auto halves = g.split(path, y, 2, 1);
    y = g.multiply(path, halves[0], g.silu(path + "/gate", halves[1]));
    y = g.convolution(path + "/conv_point", y, inner, channels, {.bias = false});
    return g.add(path, channel_norm(g, path + "/norm", y, channels), x);
}

/// Attention without a softmax over the pixels, once per scale: as they are, and after convolutions of
/// `scales`.
static TensorId linear_attention(Net& g, const std::string& path, TensorId x, std::int64_t channels,
                                 std::int64_t size, const std::vector<std::int64_t>& scales) {
    const std::int64_t heads = channels / size, sets = 1 + static_cast<std::int64_t>(scales.size());
    const TensorId last = g.transpose(path, x, {0, 2, 3, 1}), shape = g.node("Shape", path, {x});
    const auto projected = [&](const char* name) {
        return g.linear(path + name, last, channels, channels, false);
    };
    const TensorId packed = g.transpose(
        path + "/qkv",
        g.concatenate(path + "/qkv", {projected("/to_q"), projected("/to_k"), projected("/to_v")}, -1),
        {0, 3, 1, 2});
    std::vector<TensorId> all{packed};
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const std::string own = path + "/to_qkv_multiscale." + std::to_string(i);
        const std::int64_t three = 3 * channels;
        const TensorId y = g.convolution(own + "/proj_in", packed, three, three,
                                         {.size = scales[i], .groups = three, .bias = false});
        all.push_back(
            g.convolution(own + "/proj_out", y, three, three, {.groups = 3 * heads, .bias = false}));
    }
    TensorId y = all.size() > 1 ? g.concatenate(path + "/scales", all, 1) : packed;
    y = g.reshape(path + "/heads", y, {0, sets * heads, 3 * size, -1});
    const auto qkv = g.split(path + "/heads", y, 3, 2);
    const TensorId q = g.node("Relu", path + "/q", {qkv[0]}), k = g.node("Relu", path + "/k", {qkv[1]});
    const TensorId v = g.node("Pad", path, {qkv[2], g.ints({0, 0, 0, 0, 0, 0, 1, 0})});
    y = g.node("MatMul", path + "/sums", {v, g.transpose(path + "/k", k, {0, 1, 3, 2})});
    y = g.node("MatMul", path, {y, q});
    y = g.node("Div", path,
               {g.node("Slice", path, {y, g.ints({0}), g.ints({size}), g.ints({2})}),
                g.node("Slice", path, {y, g.ints({size}), g.ints({size + 1}), g.ints({2})})});
    y = g.transpose(path + "/out", g.reshape(path + "/out", y, {0, sets * channels, -1}), {0, 2, 1});
    y = g.linear(path + "/to_out", y, sets * channels, channels, false);
    y = g.node("Reshape", path, {g.transpose(path + "/back", y, {0, 2, 1}), shape});
    return g.add(path, channel_norm(g, path + "/norm_out", y, channels), x);
}

static TensorId repeated(Net& g, const std::string& path, TensorId x, std::int64_t times) {
    return times > 1 ? g.node("Tile", path, {x, g.ints({1, times, 1, 1})}) : x;
}

/// Twice as high and wide: a convolution, beside channels that become pixels.
static TensorId enlarged(Net& g, const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                         bool interpolates) {
    const Attributes by{{"blocksize", std::int64_t{2}}};
    TensorId y = kNoTensor;
    if (interpolates)
        y = g.convolution(path + "/conv", g.enlarge(path, x), n_in, n_out, {.size = 3});
    else
        y = g.node("DepthToSpace", path + "/conv",
                   {g.convolution(path + "/conv", x, n_in, 4 * n_out, {.size = 3})}, by);
    return g.add(path, y, g.node("DepthToSpace", path, {repeated(g, path, x, 4 * n_out / n_in)}, by));
}

static std::vector<std::vector<std::int64_t>> scales_of(Fields& f, std::size_t blocks) {
    constexpr const char* kField = "decoder_qkv_multiscales";
    std::vector<std::vector<std::int64_t>> scales(blocks);
    const nlohmann::json* const all = f.find({kField});
    if (all == nullptr)
        return scales;
    if (!all->is_array() || all->size() != blocks)
        f.refuse(kField, fmt::format("a list for each of {} blocks is needed", blocks));
    constexpr std::int64_t kLargestKernel = 63;
    for (std::size_t b = 0; b < blocks; ++b)
        for (const nlohmann::json& size : (*all)[b]) {
            if (!size.is_number_integer() || size.get<std::int64_t>() < 1 ||
                size.get<std::int64_t>() > kLargestKernel)
                f.refuse(kField, "sizes of convolutions are needed");
            scales[b].push_back(size.get<std::int64_t>());
        }
    return scales;
}

Graph build_dc_decoder(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    const std::vector<std::int64_t> channels = sizes_of(f, "decoder_block_out_channels");
    const std::size_t blocks = channels.size();
    const std::vector<std::int64_t> layers = sizes_of(f, "decoder_layers_per_block");
    const std::vector<std::string> types = f.texts({"decoder_block_types"});
    if (layers.size() != blocks || types.size() != blocks)
        f.refuse("decoder_block_out_channels", "its blocks need channels, layers and types, as many of each");
    double all = 0;
    for (const std::int64_t own : layers)
        all += static_cast<double>(own);
    check_blocks(f, "decoder_layers_per_block", all);
    const auto scales = scales_of(f, blocks);
    const std::int64_t latent = size_of(f, {"latent_channels"}, 32),
                       size = size_of(f, {"attention_head_dim"}, 32), out = size_of(f, {"in_channels"}, 3);
    const bool interpolates = f.text({"upsample_block_type"}, "pixel_shuffle") == "interpolate",
               shortcut = f.flag({"decoder_in_shortcut"}, true);
    for (const std::int64_t width : channels)
        if (width % size != 0 || width % latent != 0)
            f.refuse("decoder_block_out_channels",
                     fmt::format("{} is no multiple of latents and heads", width));
    if (f.text({"decoder_norm_types"}, "rms_norm") != "rms_norm")
        f.refuse("decoder_norm_types", "other norms than rms_norm are not known");
    f.skip({"decoder_act_fns", "decoder_conv_act_fn", "downsample_block_type", "encoder_block_out_channels",
            "encoder_block_types", "encoder_layers_per_block", "encoder_qkv_multiscales",
            "encoder_out_shortcut"});
    const Axis batch(place.batch);
    const TensorId latents = g.given("latents", {batch, latent, place.side("height"), place.side("width")});
    std::int64_t width = channels.back();
    TensorId x = g.convolution("decoder/conv_in", latents, latent, width, {.size = 3});
    if (shortcut)
        x = g.add("decoder/conv_in", x, repeated(g, "decoder/conv_in", latents, width / latent));
    for (std::size_t b = blocks; b-- > 0;) {
        const std::string path = "decoder/up_blocks." + std::to_string(b);
        if (b + 1 < blocks)
            x = enlarged(g, path + ".0", x, width, channels[b], interpolates);
        width = channels[b];
        for (std::int64_t i = 0; i < layers[b]; ++i) {
            const std::string own = path + "." + std::to_string(i + 1);
            if (types[b] == "ResBlock") {
                x = residual(g, own, x, width);
            } else if (types[b] == "EfficientViTBlock") {
                x = linear_attention(g, own + "/attn", x, width, size, scales[b]);
                x = gated_convolution(g, own + "/conv_out", x, width);
            } else {
                f.refuse("decoder_block_types", fmt::format("\"{}\" is a block that is not known", types[b]));
            }
        }
    }
    x = g.node("Relu", "decoder/norm_out", {channel_norm(g, "decoder/norm_out", x, width)});
    x = g.convolution("decoder/conv_out", x, width, out, {.size = 3});
    g.output(x, {batch, out, place.pixels_of("height"), place.pixels_of("width")});
    return finished(g, f);
}

} // namespace archsim::checkpoint
