// The U-shaped denoiser of Stable Diffusion (Rombach et al., arXiv:2112.10752; Podell et al.,
// arXiv:2307.01952): residual blocks of convolutions, and transformers that read the prompt at some of the
// resolutions. Fields and blocks are those of diffusers' UNet2DConditionModel.

#include "checkpoint/diffusion/net.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

/// One number for all blocks, or one per block.
static std::vector<std::int64_t> per_block(Fields& f, const char* name, std::size_t blocks,
                                           std::int64_t fallback) {
    const nlohmann::json* const value = f.find({name});
    if (value == nullptr || !value->is_array())
        return std::vector<std::int64_t>(blocks, size_of(f, {name}, fallback));
    std::vector<std::int64_t> counts = sizes_of(f, name);
    if (counts.size() != blocks)
        f.refuse(name, fmt::format("{} numbers for {} blocks", counts.size(), blocks));
    return counts;
}

struct Sizes {
    std::vector<std::int64_t> channels, heads, depth, layers;
    std::vector<bool> down_attends, up_attends, text_alone; ///< no token reads another of the image
    std::int64_t context = 0, groups = 32, time = 0;
    bool linear = false;
};

static std::vector<bool> attends(Fields& f, const char* name, std::size_t blocks) {
    const std::vector<std::string> types = f.texts({name});
    if (types.size() != blocks)
        f.refuse(name, fmt::format("{} blocks where block_out_channels has {}", types.size(), blocks));
    std::vector<bool> out;
    for (const std::string& type : types) {
        if (!type.starts_with("CrossAttn") && !type.starts_with("DownBlock2D") &&
            !type.starts_with("UpBlock2D"))
            f.refuse(name, fmt::format("\"{}\" is a block that is not known", type));
        out.push_back(type.starts_with("CrossAttn"));
    }
    return out;
}

class UNet {
  public:
    UNet(Net& g, const Sizes& sizes, TensorId time, TensorId text)
        : g_(g), s_(sizes), time_(g.silu("time_emb", time)), text_(text) {}

    TensorId residual(const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out) {
        TensorId y = g_.silu(path, g_.group_norm(path + "/norm1", x, n_in, s_.groups));
        y = g_.convolution(path + "/conv1", y, n_in, n_out, {.size = 3});
        TensorId t = g_.linear(path + "/time_emb_proj", time_, s_.time, n_out, true);
        y = g_.add(path, y, g_.reshape(path, t, {0, n_out, 1, 1}));
        y = g_.silu(path + "/2", g_.group_norm(path + "/norm2", y, n_out, s_.groups));
        y = g_.convolution(path + "/conv2", y, n_out, n_out, {.size = 3});
        if (n_in != n_out)
            x = g_.convolution(path + "/conv_shortcut", x, n_in, n_out);
        return g_.add(path + "/sum", x, y);
    }

    TensorId transformer(const std::string& path, TensorId x, std::size_t block) {
        const std::int64_t width = s_.channels[block];
        TensorId y = g_.group_norm(path + "/norm", x, width, s_.groups);
        if (s_.linear) {
            y = g_.tokens(path, y, width);
            y = g_.linear(path + "/proj_in", y, width, width, true);
        } else {
            y = g_.tokens(path, g_.convolution(path + "/proj_in", y, width, width), width);
        }
        for (std::int64_t i = 0; i < s_.depth[block]; ++i)
            y = layer(path + "/transformer_blocks." + std::to_string(i), y, block);
        if (s_.linear)
            y = g_.linear(path + "/proj_out", y, width, width, true);
        const TensorId shape = g_.node("Shape", path, {x});
        y = g_.node("Reshape", path, {g_.transpose(path + "/out", y, {0, 2, 1}), shape});
        if (!s_.linear)
            y = g_.convolution(path + "/proj_out", y, width, width);
        return g_.add(path, x, y);
    }

  private:
    TensorId attention(const std::string& path, TensorId x, TensorId of, std::int64_t width,
                       std::int64_t context, std::int64_t heads) {
        const TensorId q = g_.linear(path + "/to_q", x, width, width, false),
                       k = g_.linear(path + "/to_k", of, context, width, false),
                       v = g_.linear(path + "/to_v", of, context, width, false);
        return g_.linear(path + "/to_out", g_.attention(path, q, k, v, heads), width, width, true);
    }

    TensorId layer(const std::string& path, TensorId x, std::size_t block) {
        const std::int64_t width = s_.channels[block], heads = s_.heads[block];
        const bool text = s_.text_alone[block];
        TensorId y = g_.layer_norm(path + "/norm1", x, width);
        x = g_.add(path, x,
                   attention(path + "/attn1", y, text ? text_ : y, width, text ? s_.context : width, heads));
        y = g_.layer_norm(path + "/norm2", x, width);
        x = g_.add(path, x, attention(path + "/attn2", y, text_, width, s_.context, heads));
        y = g_.layer_norm(path + "/norm3", x, width);
        const std::int64_t inner = 4 * width;
        const std::vector<TensorId> halves =
            g_.split(path, g_.linear(path + "/ff/net.0/proj", y, width, 2 * inner, true), 2);
        y = g_.multiply(path + "/ff", halves[0], g_.gelu(path + "/ff", halves[1]));
        return g_.add(path, x, g_.linear(path + "/ff/net.2", y, inner, width, true));
    }

    Net& g_;
    const Sizes& s_;
    TensorId time_, text_;
};

/// The vector that every residual block adds: time, and what else the network is told: a scale of the
/// guidance (LCM), a class or noise level (the upscaler), an image's embedding (unCLIP), and for SDXL the
/// pooled prompt with the sizes of the image.
static TensorId conditioning(Net& g, Fields& f, const PartPlace& place, std::int64_t first,
                             std::int64_t time) {
    const Axis batch(place.batch);
    TensorId waves = g.given("timestep", {batch, first});
    if (const std::int64_t n = f.count({"time_cond_proj_dim"}, 0); n > 0)
        waves = g.add(
            "time_embedding", waves,
            g.linear("time_embedding/cond_proj", g.given("timestep_cond", {batch, n}), n, first, false));
    const auto two = [&](const std::string& name, TensorId x, std::int64_t n) {
        return g.perceptron(name + "/linear_1", name + "/linear_2", x, n, time, time, "silu");
    };
    TensorId t = two("time_embedding", waves, first);
    const std::string added = f.text({"addition_embed_type"}), kind = f.text({"class_embed_type"});
    if (!added.empty() && added != "text_time")
        f.refuse("addition_embed_type", fmt::format("\"{}\" is not known", added));
    if (added == "text_time") {
        const std::int64_t n = size_of(f, {"projection_class_embeddings_input_dim"});
        t = g.add("add_embedding", t, two("add_embedding", g.given("text_and_sizes", {batch, n}), n));
    }
    if (kind == "projection" || kind == "timestep") {
        const std::int64_t n =
            kind == "timestep" ? first : size_of(f, {"projection_class_embeddings_input_dim"});
        t = g.add("class_embedding", t, two("class_embedding", g.given("class_labels", {batch, n}), n));
    } else if (!kind.empty()) {
        f.refuse("class_embed_type", fmt::format("\"{}\" is not known", kind));
    } else if (const std::int64_t classes = f.count({"num_class_embeds"}, 0); classes > 0) {
        const TensorId labels = g.input("class_labels", DataType::int64, {batch});
        t = g.add("class_embedding", t, g.embed("class_embedding", labels, classes, time));
    }
    return t;
}

Graph build_unet(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    Sizes s{.channels = sizes_of(f, "block_out_channels")};
    const std::size_t blocks = s.channels.size();
    // The field is named after the size of a head and holds their number in every published file.
    s.heads = per_block(f, f.has({"num_attention_heads"}) ? "num_attention_heads" : "attention_head_dim",
                        blocks, 8);
    s.depth = per_block(f, "transformer_layers_per_block", blocks, 1);
    s.layers = per_block(f, "layers_per_block", blocks, 2);
    s.text_alone.assign(blocks, false);
    if (const nlohmann::json* alone = f.find({"only_cross_attention"}))
        for (std::size_t b = 0; b < blocks; ++b) {
            const nlohmann::json& one = alone->is_array() && b < alone->size() ? (*alone)[b] : *alone;
            s.text_alone[b] = one.is_boolean() && one.get<bool>();
        }
    s.down_attends = attends(f, "down_block_types", blocks);
    s.up_attends = attends(f, "up_block_types", blocks);
    double layers = 0;
    for (std::size_t b = 0; b < blocks; ++b)
        layers += 2 * static_cast<double>(s.layers[b] + 1) * static_cast<double>(s.depth[b]);
    check_blocks(f, "layers_per_block", layers);
    s.context = size_of(f, {"cross_attention_dim"});
    s.groups = size_of(f, {"norm_num_groups"}, 32);
    s.time = 4 * s.channels.front();
    s.linear = f.flag({"use_linear_projection"});
    const std::int64_t in = size_of(f, {"in_channels"}, 4), out = size_of(f, {"out_channels"}, 4);
    const auto mid = f.object().find("mid_block_type");
    const bool has_mid = mid == f.object().end() || !mid->is_null();
    const bool mid_attends =
        f.text({"mid_block_type"}, "UNetMidBlock2DCrossAttn") == "UNetMidBlock2DCrossAttn";
    f.skip({"act_fn", "addition_embed_type_num_heads", "addition_time_embed_dim", "downsample_padding",
            "flip_sin_to_cos", "sample_size", "conv_in_kernel", "conv_out_kernel", "attention_type",
            "resnet_time_scale_shift", "time_embedding_type", "upcast_attention", "mid_block_scale_factor",
            "projection_class_embeddings_input_dim", "attention_head_dim", "mid_block_only_cross_attention"});
    const Axis batch(place.batch);
    const TensorId latents = g.given("sample", {batch, in, place.side("height"), place.side("width")}),
                   text = g.given("encoder_hidden_states", {batch, place.text_axis(), s.context});
    UNet net(g, s, conditioning(g, f, place, s.channels.front(), s.time), text);

    TensorId x = g.convolution("conv_in", latents, in, s.channels.front(), {.size = 3});
    std::vector<std::pair<TensorId, std::int64_t>> skips{{x, s.channels.front()}};
    std::int64_t width = s.channels.front();
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::string path = "down_blocks." + std::to_string(b);
        for (std::int64_t i = 0; i < s.layers[b]; ++i) {
            const std::string own = "." + std::to_string(i);
            x = net.residual(path + "/resnets" + own, x, width, s.channels[b]);
            width = s.channels[b];
            if (s.down_attends[b])
                x = net.transformer(path + "/attentions" + own, x, b);
            skips.emplace_back(x, width);
        }
        if (b + 1 < blocks) {
            x = g.convolution(path + "/downsamplers.0/conv", x, width, width, {.size = 3, .stride = 2});
            skips.emplace_back(x, width);
        }
    }
    if (has_mid)
        x = net.residual("mid_block/resnets.0", x, width, width);
    if (has_mid && mid_attends)
        x = net.transformer("mid_block/attentions.0", x, blocks - 1);
    if (has_mid)
        x = net.residual("mid_block/resnets.1", x, width, width);
    for (std::size_t up = 0; up < blocks; ++up) {
        const std::size_t b = blocks - 1 - up;
        const std::string path = "up_blocks." + std::to_string(up);
        for (std::int64_t i = 0; i < s.layers[b] + 1; ++i) {
            const std::string own = "." + std::to_string(i);
            const auto [skip, more] = skips.back();
            skips.pop_back();
            x = g.concatenate(path + own, {x, skip}, 1);
            x = net.residual(path + "/resnets" + own, x, width + more, s.channels[b]);
            width = s.channels[b];
            if (s.up_attends[up])
                x = net.transformer(path + "/attentions" + own, x, b);
        }
        if (up + 1 < blocks)
            x = g.convolution(path + "/upsamplers.0/conv", g.enlarge(path + "/upsamplers.0", x), width, width,
                              {.size = 3});
    }
    x = g.silu("conv_norm_out", g.group_norm("conv_norm_out", x, width, s.groups));
    x = g.convolution("conv_out", x, width, out, {.size = 3});
    g.output(x, {batch, out, place.side("height"), place.side("width")});
    return finished(g, f);
}

} // namespace archsim::checkpoint
