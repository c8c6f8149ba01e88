// From latents to pixels: the decoder of diffusers' AutoencoderKL, residual blocks of convolutions with one
// layer of attention at the lowest resolution.

#include "checkpoint/diffusion/net.hpp"

#include <algorithm>

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

} // namespace archsim::checkpoint
