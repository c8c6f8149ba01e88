// Encoders of the prompt: CLIP (Radford et al., arXiv:2103.00020), T5 (Raffel et al., arXiv:1910.10683) and
// BERT (Devlin et al., arXiv:1810.04805), as transformers runs them.

#include "checkpoint/diffusion/net.hpp"

namespace archsim::checkpoint {

/// Self-attention over `x` with biases, before its residual sum.
static TensorId self_attention(Net& g, const std::string& path, TensorId x, std::int64_t width,
                               std::int64_t heads, bool causal) {
    const TensorId q = g.linear(path + "/q_proj", x, width, width, true),
                   k = g.linear(path + "/k_proj", x, width, width, true),
                   v = g.linear(path + "/v_proj", x, width, width, true);
    return g.linear(path + "/out_proj", g.attention(path, q, k, v, heads, causal), width, width, true);
}

struct ClipSizes {
    std::int64_t layers, width, heads, inner;
};

/// The layers of either encoder of CLIP.
static TensorId clip_layers(Net& g, const std::string& root, TensorId x, const ClipSizes& s, bool causal) {
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string path = root + "encoder/layers." + std::to_string(i);
        TensorId y = g.layer_norm(path + "/layer_norm1", x, s.width);
        x = g.add(path, x, self_attention(g, path + "/self_attn", y, s.width, s.heads, causal));
        y = g.layer_norm(path + "/layer_norm2", x, s.width);
        x = g.add(path, x,
                  g.perceptron(path + "/mlp/fc1", path + "/mlp/fc2", y, s.width, s.inner, s.width, "gelu"));
    }
    return x;
}

Graph build_clip_text(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    const std::int64_t width = size_of(f, {"hidden_size"}), layers = blocks_of(f, {"num_hidden_layers"}),
                       heads = size_of(f, {"num_attention_heads"}), inner = size_of(f, {"intermediate_size"}),
                       rows = size_of(f, {"vocab_size"}), positions = size_of(f, {"max_position_embeddings"}),
                       projection = f.count({"projection_dim"}, 0);
    const std::vector<std::string> classes = f.texts({"architectures"});
    const bool projected = std::ranges::any_of(
        classes, [](const std::string& name) { return name.find("WithProjection") != std::string::npos; });
    f.skip({"hidden_act"});
    const std::string root = "text_model/";
    const TensorId ids = g.input("input_ids", DataType::int64, {Axis(place.batch), positions});
    TensorId x = g.add(root + "embeddings", g.embed(root + "embeddings/token_embedding", ids, rows, width),
                       g.weight(root + "embeddings/position_embedding", "weight", {positions, width}));
    x = clip_layers(g, root, x, {layers, width, heads, inner}, true);
    x = g.layer_norm(root + "final_layer_norm", x, width);
    if (projected && projection > 0) {
        TensorId last = g.node("Slice", root + "pooled", {x, g.ints({-1}), g.ints({positions}), g.ints({1})});
        last = g.linear("text_projection", last, width, projection, false);
        g.output(last, {Axis(place.batch), 1, projection});
    }
    g.output(x, {Axis(place.batch), positions, width});
    return finished(g, f);
}

Graph build_clip_vision(Fields& f, const Decoder& base, const PartPlace& place) {
    Net g(base);
    const std::int64_t width = size_of(f, {"hidden_size"}), layers = blocks_of(f, {"num_hidden_layers"}),
                       heads = size_of(f, {"num_attention_heads"}), inner = size_of(f, {"intermediate_size"}),
                       side = size_of(f, {"image_size"}, 224), patch = size_of(f, {"patch_size"}, 32),
                       projection = f.count({"projection_dim"}, 0), patches = side / patch * (side / patch);
    f.skip({"hidden_act", "num_channels"});
    constexpr std::int64_t kColours = 3;
    const std::string root = "vision_model/", tables = root + "embeddings";
    const Axis batch(place.batch);
    TensorId x = g.given("pixel_values", {batch, kColours, side, side});
    x = g.node("Conv", tables,
               {x, g.weight(tables + "/patch_embedding", "weight", {width, kColours, patch, patch}, true)},
               {{"kernel_shape", std::vector<std::int64_t>{patch, patch}},
                {"strides", std::vector<std::int64_t>{patch, patch}}});
    // The class of the image is a token of its own.
    x = g.concatenate(tables, {g.tokens(tables, x, width), g.given("class_embedding", {batch, 1, width})}, 1);
    x = g.add(tables, x, g.weight(tables + "/position_embedding", "weight", {patches + 1, width}));
    x = g.layer_norm(root + "pre_layrnorm", x, width);
    x = clip_layers(g, root, x, {layers, width, heads, inner}, false);
    if (projection > 0)
        x = g.linear("visual_projection", x, width, projection, false);
    g.output(x, {batch, patches + 1, projection > 0 ? projection : width});
    return finished(g, f);
}

Graph build_t5_encoder(Fields& f, const Decoder& given, const PartPlace& place) {
    // Quantised by transformers, the last matrix of each MLP stays in fp32 (_keep_in_fp32_modules of
    // models/t5/modeling_t5.py).
    Decoder base = given;
    if (constexpr double kFloat = 32; base.formats.scheme_bits() > 0)
        base.formats.set_pattern("DenseReluDense.wo", {kFloat, "fp32", std::nullopt});
    Net g(base);
    const std::int64_t width = size_of(f, {"d_model"}), layers = blocks_of(f, {"num_layers"}),
                       heads = size_of(f, {"num_heads"}), size = size_of(f, {"d_kv"}, 64),
                       inner = size_of(f, {"d_ff"}), rows = size_of(f, {"vocab_size"}),
                       buckets = size_of(f, {"relative_attention_num_buckets"}, 32), all = heads * size;
    const bool gated = f.text({"feed_forward_proj"}, "relu").starts_with("gated"),
               // UMT5 has positions of its own in every layer (Chung et al., arXiv:2304.09151).
        own_positions = f.text({"model_type"}).starts_with("umt5");
    f.skip({"num_decoder_layers", "dense_act_fn", "is_gated_act", "relative_attention_max_distance"});
    const TensorId ids = g.input("input_ids", DataType::int64, {Axis(place.batch), "sequence"}),
                   distances = g.input("position_buckets", DataType::int64, {"sequence", "sequence"});
    const auto positions = [&](const std::string& path) {
        const TensorId table = g.weight(path + "/relative_attention_bias", "weight", {buckets, heads});
        const TensorId rows_of = g.node("Gather", path, {table, distances}, {{"axis", std::int64_t{0}}});
        return g.node("Unsqueeze", path, {g.transpose(path, rows_of, {2, 0, 1}), g.ints({0})});
    };
    TensorId x = g.embed("shared", ids, rows, width), bias = kNoTensor;
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "encoder/block." + std::to_string(i), mixer = path + "/SelfAttention",
                          mlp = path + "/DenseReluDense";
        if (i == 0 || own_positions)
            bias = positions(mixer);
        TensorId y = g.rms_norm(path + "/layer.0/layer_norm", x, width);
        const TensorId q = g.linear(mixer + "/q", y, width, all, false),
                       k = g.linear(mixer + "/k", y, width, all, false),
                       v = g.linear(mixer + "/v", y, width, all, false);
        y = g.biased_attention(mixer, q, k, v, heads, size, bias);
        x = g.add(path, x, g.linear(mixer + "/o", y, all, width, false));
        y = g.rms_norm(path + "/layer.1/layer_norm", x, width);
        TensorId hidden = kNoTensor;
        if (gated)
            hidden = g.multiply(mlp, g.gelu(mlp, g.linear(mlp + "/wi_0", y, width, inner, false)),
                                g.linear(mlp + "/wi_1", y, width, inner, false));
        else
            hidden = g.node("Relu", mlp, {g.linear(mlp + "/wi", y, width, inner, false)});
        x = g.add(path, x, g.linear(mlp + "/wo", hidden, inner, width, false));
    }
    g.output(g.rms_norm("encoder/final_layer_norm", x, width), {Axis(place.batch), "sequence", width});
    return finished(g, f);
}

Graph build_bert(Fields& f, const Decoder& base, const PartPlace& place) {
    // Pipelines pad the prompt to the length that CLIP has (diffusers, HunyuanDiTPipeline: 77).
    constexpr std::int64_t kPadded = 77;
    Net g(base);
    const std::int64_t width = size_of(f, {"hidden_size"}), layers = blocks_of(f, {"num_hidden_layers"}),
                       heads = size_of(f, {"num_attention_heads"}), inner = size_of(f, {"intermediate_size"}),
                       rows = size_of(f, {"vocab_size"}), positions = size_of(f, {"max_position_embeddings"}),
                       types = size_of(f, {"type_vocab_size"}, 2);
    f.skip({"hidden_act", "position_embedding_type", "pooler_fc_size", "pooler_num_attention_heads",
            "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "directionality"});
    const TensorId ids = g.input("input_ids", DataType::int64, {Axis(place.batch), kPadded}),
                   places = g.input("position_ids", DataType::int64, {1, kPadded}),
                   kinds = g.input("token_type_ids", DataType::int64, {Axis(place.batch), kPadded});
    const std::string tables = "embeddings";
    TensorId x = g.add(tables, g.embed(tables + "/word_embeddings", ids, rows, width),
                       g.embed(tables + "/token_type_embeddings", kinds, types, width));
    x = g.add(tables, x, g.embed(tables + "/position_embeddings", places, positions, width));
    x = g.layer_norm(tables + "/LayerNorm", x, width);
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string path = "encoder/layer." + std::to_string(i);
        x = g.layer_norm(path + "/attention/output/LayerNorm",
                         g.add(path, x, self_attention(g, path + "/attention", x, width, heads, false)),
                         width);
        const TensorId y = g.perceptron(path + "/intermediate/dense", path + "/output/dense", x, width, inner,
                                        width, "gelu");
        x = g.layer_norm(path + "/output/LayerNorm", g.add(path, x, y), width);
    }
    TensorId first = g.node("Slice", "pooler", {x, g.ints({0}), g.ints({1}), g.ints({1})});
    first = g.node("Tanh", "pooler", {g.linear("pooler/dense", first, width, width, true)});
    g.output(first, {Axis(place.batch), 1, width});
    g.output(x, {Axis(place.batch), kPadded, width});
    return finished(g, f);
}

} // namespace archsim::checkpoint
