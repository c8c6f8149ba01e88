// Vision towers: what they add to the weights in memory. Text is generated without them.

#include "checkpoint/config_parts.hpp"

namespace archsim::checkpoint {

using nlohmann::json;

struct Tower {
    std::int64_t hidden = 0, inner = 0, layers = 0, patch = 0, channels = 0, frames = 0, positions = 0;
    std::int64_t attention = 0; ///< width of queries, of keys and of values
    std::int64_t merger = 0;    ///< inner width of a gated MLP behind them; 0: as wide as what it takes
    bool gated = false;
};

static Tower read_tower(Fields& v) {
    Tower t{.hidden = v.count({"embed_dim", "hidden_size", "vt_hidden_size", "width"})};
    // Llama 3.2 Vision counts its last, gated layers apart.
    t.layers = v.count({"depth", "num_hidden_layers", "vt_num_hidden_layers", "layers"}) +
               v.count({"num_global_layers"}, 0);
    t.attention = v.count({"qkv_hidden_size"}, t.hidden, 1);
    const double ratio = v.number({"mlp_ratio"}, 4);
    t.inner = v.count({"intermediate_size", "vt_intermediate_size"},
                      static_cast<std::int64_t>(ratio * static_cast<double>(t.hidden)), 1);
    t.patch = v.count({"patch_size", "spatial_patch_size"}, 14, 1);
    t.channels = v.count({"in_channels", "num_channels", "in_chans"}, 3, 1);
    t.frames = v.count({"temporal_patch_size"}, 1, 1);
    // Gemma 4 has a table for each of two axes; others one of all positions, Kimi's of rows and columns (what
    // it adds for time is computed), or as many as patches in an image.
    const std::int64_t side = v.count({"image_size"}, 0) / t.patch;
    const std::int64_t grid = v.count({"init_pos_emb_height"}, side) * v.count({"init_pos_emb_width"}, side);
    t.positions = v.has({"position_embedding_size"}) ? 2 * v.count({"position_embedding_size"})
                                                     : v.count({"num_position_embeddings"}, grid);
    const std::string type = v.text({"model_type"}), activation = v.text({"hidden_act", "hidden_activation"});
    t.gated = type.starts_with("gemma4") || type == "pixtral" || activation == "silu";
    // GLM-4V: MLPs as wide as the result, and the stated inner width behind them.
    if (any_name(model_types().at("inner_mergers"),
                 [&](const std::string& name) { return type.starts_with(name); })) {
        t.merger = t.inner;
        t.inner = v.count({"out_hidden_size"});
        t.gated = true;
    }
    v.skip({"num_heads", "num_attention_heads", "num_key_value_heads", "vt_num_attention_heads", "head_dim",
            "attention_heads", "global_head_dim", "default_output_length", "pooling_kernel_size",
            "standardize", "init_pos_emb_time", "num_positions", "window_size", "qkv_bias", "attention_bias",
            "use_bias"});
    return t;
}

void read_vision(Fields& config, Decoder& decoder) {
    const auto note = [&](FindingKind kind, Severity severity, const char* message, const char* hint) {
        decoder.findings.push_back(found(kind, severity, config.file(), "vision_config", message, hint));
    };
    const json* object = config.find({"vision_config", "vision_tower_config"});
    if (!object || !object->is_object()) {
        if (decoder.facts.architecture.find("ForConditionalGeneration") != std::string::npos)
            note(FindingKind::missing_field, Severity::warning,
                 "the architecture takes more than text and the file states no tower for it; only the "
                 "language model is counted",
                 "take the whole config.json of the model");
        return;
    }
    json tower = *object;
    fill_in(tower);
    Fields v(tower, config.file(), "vision_config.");
    if (!v.has({"depth", "num_hidden_layers", "vt_num_hidden_layers", "layers"})) {
        // Named, not described: a network of another library (Gemma 3n: MobileNet-V5 of timm).
        const json& known = model_types().at("towers");
        const auto parameters = known.find(v.text({"architecture", "model_name"}));
        if (parameters == known.end()) {
            note(FindingKind::missing_field, Severity::error,
                 "names a tower without its sizes; only the language model is counted",
                 "give the folder with the weights or their index beside config.json");
            return;
        }
        decoder.resident.push_back({"visual", {1, parameters->get<std::int64_t>()}});
        decoder.facts.vision_parameters += parameters->get<double>();
        return;
    }
    const Tower t = read_tower(v);
    const std::int64_t h = t.hidden, text = decoder.facts.hidden;
    std::vector<ResidentWeight>& out = decoder.resident;
    const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
        out.push_back({std::string("visual.") + name, std::move(shape)});
    };
    add("patch_embed", {h, t.channels * t.frames * t.patch * t.patch});
    if (t.positions > 0)
        add("pos_embed", {t.positions, h});
    add("blocks.attention", {t.layers, 4, h, t.attention});
    add("blocks.mlp", {t.layers, t.gated ? 3 : 2, h, t.inner});
    if (!t.gated)
        add("blocks.bias", {t.layers, 5 * h + t.inner});
    add("blocks.norms", {t.layers, t.gated ? 2 : 4, h});
    const std::int64_t merge = v.count({"spatial_merge_size"}, 0);
    std::int64_t patches = merge * merge; // of a token
    if (const auto sides = v.counts({"merge_kernel_size"}); sides.size() == 2)
        patches = sides[0] * sides[1];
    // Qwen2-VL calls the width of its result hidden_size, that of its layers embed_dim.
    const std::int64_t merged = v.count({"out_hidden_size", "text_hidden_size"},
                                        v.has({"embed_dim"}) ? v.count({"hidden_size"}, 0) : 0);
    if (t.merger > 0) { // patches of a square become one by a convolution
        add("downsample", {patches, h, merged});
        add("merger.proj", {merged, merged});
        add("merger.mlp", {3, merged, t.merger});
    } else if (patches > 0 && merged > 0) {
        // Patches of a square become one token; further mergers feed early layers of the language model.
        const std::int64_t wide = patches * v.count({"mm_hidden_size"}, h, 1);
        const auto mergers = 1 + static_cast<std::int64_t>(v.counts({"deepstack_visual_indexes"}).size());
        add("merger.fc1", {mergers, wide, wide});
        add("merger.fc2", {mergers, wide, merged});
    } else if (v.has({"projector_input_dim"})) {
        const std::int64_t in = v.count({"projector_input_dim"}), result = v.count({"projector_output_dim"});
        add("adapter.fc1", {t.inner, in});
        add("adapter.fc2", {in, result});
        add("projector", {v.count({"vision_output_dim"}, result, 1), text});
    } else if (const std::int64_t tiles = v.count({"max_num_tiles"}, 0); tiles > 0) {
        // Llama 3.2 Vision: positions of every tile for every shape of the image, and three more tables of
        // tiles.
        std::int64_t shapes = 1; // none given
        if (const json* ratios = v.find({"supported_aspect_ratios"}); ratios && ratios->is_array())
            shapes += static_cast<std::int64_t>(ratios->size());
        add("tile_embed", {shapes, tiles, t.positions + 1, h});
        add("tile_position_embed", {2, shapes, tiles, h});
        v.skip({"intermediate_layers_indices"});
        add("projector", {v.count({"vision_output_dim"}, h, 1), text});
    } else {
        add("projector", {h, text});
        if (config.has({"projector_hidden_act"})) // LLaVA: an MLP of two products
            add("projector.fc2", {text, text});
    }
    for (const ResidentWeight& w : out) {
        double elements = 1;
        for (const std::int64_t size : w.shape)
            elements *= static_cast<double>(size);
        decoder.facts.vision_parameters += elements;
    }
    v.report_unread(decoder.findings, Severity::warning); // of what lies in memory alone
    note(FindingKind::unsupported, Severity::note,
         "no image is read: the tower lies in memory, its work is not counted",
         "count the tokens of an image in --prompt-tokens");
}

} // namespace archsim::checkpoint
