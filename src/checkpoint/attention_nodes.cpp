// Attention with grouped keys and values, as ONNX Runtime's model builder writes it, and latent attention.

#include "checkpoint/graph_maker.hpp"

namespace archsim::checkpoint {

/// Norms every head, or all heads side by side.
static TensorId norm_heads(GraphMaker& g, const std::string& path, TensorId x, const TokenMixer& m,
                           std::int64_t heads) {
    if (m.norm == HeadNorm::none)
        return x;
    const std::int64_t width = heads * m.head_size;
    if (m.norm == HeadNorm::whole)
        return g.rms_norm(path, x, width);
    x = g.node("Reshape", path, {x, g.ints({0, 0, heads, m.head_size})});
    x = g.rms_norm(path, x, m.head_size);
    return g.node("Reshape", path, {x, g.ints({0, 0, width})});
}

static TensorId add_attention(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                              TensorId x) {
    const std::int64_t d = g.hidden(), q_width = m.heads * m.head_size, kv_width = m.kv_heads * m.head_size,
                       value = m.value_size > 0 ? m.value_size : m.head_size, out_width = m.heads * value;
    const bool shared = m.shares_cache_of >= 0;
    TensorId narrow = kNoTensor, gate = kNoTensor; // queries that are widened again (Step-3)
    if (m.query_rank > 0)
        narrow = g.rms_norm(path + "/inter_norm", g.linear(path + "/q_a_proj", x, d, m.query_rank, m.bias),
                            m.query_rank);
    TensorId q = narrow == kNoTensor ? g.linear(path + "/q_proj", x, d, q_width, m.bias)
                                     : g.linear(path + "/wq", narrow, m.query_rank, q_width, false);
    if (m.output_gate)
        gate = g.linear(path + "/q_gate", x, d, out_width, m.bias);
    TensorId k = kNoTensor, v = kNoTensor;
    if (!shared) {
        k = g.linear(path + "/k_proj", x, d, kv_width, m.bias);
        v = m.values_are_keys ? k : g.linear(path + "/v_proj", x, d, m.kv_heads * value, m.bias);
        k = norm_heads(g, path + "/k_norm", k, m, m.kv_heads);
    }
    q = norm_heads(g, path + "/q_norm", q, m, m.heads);
    const std::string past = kept_positions("past_sequence", m.window),
                      present = kept_positions("past_sequence + sequence", m.window);
    std::vector<TensorId> inputs{q, k, v};
    const std::pair<const char*, std::int64_t> kinds[] = {{"key", m.head_size}, {"value", value}};
    for (const auto& [kind, width] : kinds)
        inputs.push_back(shared ? g.kept(m.shares_cache_of, kind)
                                : g.past(std::string("past_key_values.#.") + kind, layer,
                                         {"batch", m.kv_heads, past, width}));
    Attributes attributes{
        {"num_heads", m.heads}, {"kv_num_heads", m.kv_heads}, {"do_rotary", std::int64_t{1}}};
    if (shared)
        attributes.emplace_back("shared_cache", std::int64_t{1});
    if (m.window > 0) {
        attributes.emplace_back("local_window_size", m.window);
        // Serving engines give back what has left the window (vLLM's hybrid KV cache manager, llama.cpp's
        // cache of sliding-window layers).
        attributes.emplace_back("keeps_window", std::int64_t{1});
    }
    if (m.chunked)
        attributes.emplace_back("chunked", std::int64_t{1});
    if (m.index_heads > 0) {
        // Blocks of positions are chosen by the best score in them (MiniMax-M3).
        const std::int64_t width = m.index_heads * m.index_size;
        const std::string ix = path + "/indexer";
        add_index(g, ix, layer, m, x,
                  {g.linear(ix + "/q_proj", x, d, width, false),
                   g.linear(ix + "/k_proj", x, d, m.index_size, false)});
        attributes.emplace_back("keeps", m.index_keeps);
    }
    if (m.sinks) {
        inputs.resize(11, kNoTensor);
        inputs.push_back(g.weight(path, "sinks", {m.heads}));
    }
    const std::string out = "/" + path + "/GroupQueryAttention";
    std::vector<std::string> names{out + "_output_0"};
    if (!shared)
        names.insert(names.end(), {g.numbered("present.#.key", layer), g.numbered("present.#.value", layer)});
    const auto results =
        g.nodes("GroupQueryAttention", path, std::move(inputs), names, std::move(attributes), kMicrosoft);
    for (std::size_t i = 1; i < results.size(); ++i)
        g.present(results[i], {"batch", m.kv_heads, present, kinds[i - 1].second});
    TensorId y = results.front();
    if (m.sub_norm)
        y = g.rms_norm(path + "/attn_sub_norm", y, out_width);
    if (m.output_gate)
        y = g.node("Mul", path, {y, g.node("Sigmoid", path, {gate})});
    return g.linear(path + "/o_proj", y, out_width, d, m.output_bias);
}

/// Keys and values of every head from the compressed vector, and a cache of both: as llama.cpp runs files
/// that were made before it cached the vector.
static TensorId add_expanded_attention(GraphMaker& g, const std::string& path, std::size_t layer,
                                       const TokenMixer& m, TensorId q, TensorId latent, TensorId rotary) {
    const std::int64_t head = m.plain_size + m.rotary_size;
    const TensorId plain = g.node(
        "MatMul", path + "/kv_b_proj.keys",
        {latent, g.weight(path + "/kv_b_proj.keys", "weight", {m.kv_rank, m.heads * m.plain_size}, true)});
    const TensorId values = g.node(
        "MatMul", path + "/kv_b_proj.values",
        {latent, g.weight(path + "/kv_b_proj.values", "weight", {m.kv_rank, m.heads * m.value_size}, true)});
    const TensorId keys =
        m.rotary_size > 0 ? g.node("Concat", path + "/keys",
                                   {plain, g.node("Tile", path + "/keys", {rotary, g.ints({1, 1, m.heads})})},
                                   {{"axis", std::int64_t{-1}}})
                          : plain;
    const std::string past = "past_sequence";
    const std::pair<const char*, std::int64_t> kinds[] = {{"key", head}, {"value", m.value_size}};
    std::vector<TensorId> inputs{q, keys, values};
    for (const auto& [kind, width] : kinds)
        inputs.push_back(
            g.past(std::string("past_key_values.#.") + kind, layer, {"batch", m.heads, past, width}));
    const std::string out = "/" + path + "/GroupQueryAttention";
    const auto results =
        g.nodes("GroupQueryAttention", path, std::move(inputs),
                {out + "_output_0", g.numbered("present.#.key", layer), g.numbered("present.#.value", layer)},
                {{"num_heads", m.heads}, {"kv_num_heads", m.heads}}, kMicrosoft);
    for (std::size_t i = 1; i < results.size(); ++i)
        g.present(results[i], {"batch", m.heads, past + " + sequence", kinds[i - 1].second});
    return g.linear(path + "/o_proj", results.front(), m.heads * m.value_size, g.hidden(), m.output_bias);
}

TensorId add_index(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m, TensorId x,
                   const IndexInputs& in) {
    const TensorId key = g.rms_norm(path + "/k_norm", in.key, m.index_size),
                   weights = g.linear(path + "/weights_proj", x, g.hidden(), m.index_heads, false);
    const auto positions = [&](const std::string& all) {
        return in.ratio > 1 ? "floor((" + all + ") / " + std::to_string(in.ratio) + ")" : all;
    };
    const TensorId cached =
        g.past("past_key_values.#.index", layer, {"batch", 1, positions("past_sequence"), m.index_size});
    const auto chosen =
        g.nodes("SparseIndex", path, {in.queries, key, weights, cached},
                {"/" + path + "/chosen", g.numbered("present.#.index", layer)},
                {{"num_heads", m.index_heads}, {"keeps", m.index_keeps}, {"ratio", in.ratio}}, kOwnDomain);
    g.present(chosen[1], {"batch", 1, positions("past_sequence + sequence"), m.index_size});
    return chosen[0];
}

static TensorId mix(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                    TensorId x) {
    switch (m.kind) {
    case MixerKind::none:
        return kNoTensor;
    case MixerKind::attention:
        return add_attention(g, path + "/self_attn", layer, m, x);
    case MixerKind::latent:
        return add_latent_attention(g, path + "/self_attn", layer, m, x);
    case MixerKind::compressed:
        return add_compressed_attention(g, path + "/self_attn", layer, m, x);
    case MixerKind::linear:
        return g.linear(path + "/self_attn/linear_attn", x, g.hidden(), g.hidden(), false);
    case MixerKind::gated_delta:
    case MixerKind::mamba:
    case MixerKind::selective:
    case MixerKind::lightning:
    case MixerKind::convolution:
    case MixerKind::gated_linear:
    case MixerKind::token_shift:
        return add_recurrence(g, path, layer, m, x);
    }
    return kNoTensor;
}

TensorId add_mixer(GraphMaker& g, const std::string& path, std::size_t layer, TensorId x) {
    const DecoderLayer& l = g.decoder().layers[layer];
    const TensorId y = mix(g, path, layer, l.mixer, x);
    return l.beside ? g.node("Add", path, {y, mix(g, path, layer, *l.beside, x)}) : y;
}

TensorId add_latent_attention(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                              TensorId x) {
    const std::int64_t d = g.hidden(), head = m.plain_size + m.rotary_size;
    TensorId q = x;
    if (m.query_rank > 0) {
        q = g.linear(path + "/q_a_proj", x, d, m.query_rank, m.bias);
        q = g.rms_norm(path + "/q_a_layernorm", q, m.query_rank);
    }
    const TensorId compressed_query = q;
    q = g.linear(path + (m.query_rank > 0 ? "/q_b_proj" : "/q_proj"), q, m.query_rank > 0 ? m.query_rank : d,
                 m.heads * head, false);
    TensorId kv = g.linear(path + "/kv_a_proj_with_mqa", x, d, m.kv_rank + m.rotary_size, m.bias);
    const auto parts =
        g.parts(path, kv, {m.kv_rank, m.rotary_size}, {"latent", "rotary"}, "/kv_a_proj_with_mqa");
    const TensorId latent = g.rms_norm(path + "/kv_a_layernorm", parts[0], m.kv_rank);
    const TensorId rotary = g.node("RotaryEmbedding", path + "/k_rot", {parts[1]}, {}, kMicrosoft);
    if (m.expanded)
        return add_expanded_attention(g, path, layer, m, q, latent, rotary);
    kv = g.node("Concat", path, {latent, rotary}, {{"axis", std::int64_t{-1}}});
    const TensorId past =
        g.past("past_key_values.#.latent", layer, {"batch", 1, "past_sequence", m.kv_rank + m.rotary_size});
    const Attributes sizes{{"num_heads", m.heads},       {"kv_rank", m.kv_rank},
                           {"plain_size", m.plain_size}, {"rotary_size", m.rotary_size},
                           {"value_size", m.value_size}, {"keeps", m.index_keeps}};
    // Half of the published kv_b_proj belongs to the keys, half to the values.
    const TensorId keys =
        g.node("LatentKeys", path + "/k_b_proj",
               {q, kv, past,
                g.weight(path + "/kv_b_proj.keys", "weight", {m.kv_rank, m.heads * m.plain_size}, true)},
               sizes, kOwnDomain);
    std::vector<TensorId> inputs{keys, kv, past};
    if (m.index_heads > 0) {
        // The lightning indexer scores every cached position with a few narrow heads.
        const std::string ix = path + "/indexer";
        const std::int64_t width = m.index_heads * m.index_size;
        g.left("chosen") = add_index(
            g, ix, layer, m, x,
            {g.linear(ix + "/wq_b", compressed_query, m.query_rank > 0 ? m.query_rank : d, width, false),
             g.linear(ix + "/wk", x, d, m.index_size, false)});
    }
    if (m.index_keeps > 0 && g.left("chosen") != kNoTensor)
        inputs.push_back(g.left("chosen"));
    const auto attended = g.nodes(
        "LatentAttention", path, std::move(inputs),
        {"/" + path + "/LatentAttention_output_0", g.numbered("present.#.latent", layer)}, sizes, kOwnDomain);
    g.present(attended[1], {"batch", 1, "past_sequence + sequence", m.kv_rank + m.rotary_size});
    const TensorId y =
        g.node("LatentValues", path + "/v_b_proj",
               {attended[0], kv, past,
                g.weight(path + "/kv_b_proj.values", "weight", {m.kv_rank, m.heads * m.value_size}, true)},
               sizes, kOwnDomain);
    return g.linear(path + "/o_proj", y, m.heads * m.value_size, d, m.output_bias);
}

// Compressed attention (DeepSeek-V4, sections 2.3.1 and 2.3.2; transformers, models/deepseek_v4): queries
// through a narrow width, one vector per position that is key and value of all heads, a window of them, and
// vectors that stand for several positions each.

/// One vector of `size` for every `ratio` positions. Where an index chooses among them, neighbouring groups
/// overlap, for which every position gives two.
static TensorId compress(GraphMaker& g, const std::string& path, const TokenMixer& m, TensorId x,
                         std::int64_t size) {
    const std::int64_t width = (m.index_heads > 0 ? 2 : 1) * size;
    const TensorId vectors = g.linear(path + "/kv_proj", x, g.hidden(), width, false),
                   scores = g.linear(path + "/gate_proj", x, g.hidden(), width, false);
    return g.node("CompressPositions", path,
                  {vectors, scores, g.weight(path, "position_bias", {m.ratio, width})}, {{"size", size}},
                  kOwnDomain);
}

TensorId add_compressed_attention(GraphMaker& g, const std::string& path, std::size_t layer,
                                  const TokenMixer& m, TensorId x) {
    const std::int64_t d = g.hidden(), width = m.heads * m.head_size;
    const TensorId narrow = g.rms_norm(path + "/q_a_norm",
                                       g.linear(path + "/q_a_proj", x, d, m.query_rank, false), m.query_rank),
                   q = g.linear(path + "/q_b_proj", narrow, m.query_rank, width, false);
    TensorId vectors =
        g.rms_norm(path + "/kv_norm", g.linear(path + "/kv_proj", x, d, m.head_size, false), m.head_size);
    vectors = g.node("RotaryEmbedding", path + "/k_rot", {vectors}, {}, kMicrosoft);
    const auto kept = [&](const char* kind, const std::string& positions) {
        return g.past(std::string("past_key_values.#.") + kind, layer, {"batch", 1, positions, m.head_size});
    };
    const auto groups = [&](const std::string& all) {
        return "floor((" + all + ") / " + std::to_string(m.ratio) + ")";
    };
    const std::string all = "past_sequence", grown = "past_sequence + sequence";
    std::vector<TensorId> inputs{q, vectors, kept("window", kept_positions(all, m.window))};
    std::vector<std::string> outputs{"/" + path + "/CompressedAttention_output_0",
                                     g.numbered("present.#.window", layer)};
    TensorId chosen = kNoTensor;
    if (m.ratio > 0) {
        const std::string own = path + "/compressor";
        inputs.push_back(kept("compressed", groups(all)));
        inputs.push_back(g.rms_norm(own + "/kv_norm", compress(g, own, m, x, m.head_size), m.head_size));
        outputs.push_back(g.numbered("present.#.compressed", layer));
        if (m.index_heads > 0) {
            const std::string ix = own + "/indexer";
            chosen = add_index(
                g, ix, layer, m, x,
                {g.linear(ix + "/q_b_proj", narrow, m.query_rank, m.index_heads * m.index_size, false),
                 compress(g, ix, m, x, m.index_size), m.ratio});
        }
    }
    inputs.resize(5, kNoTensor);
    inputs.push_back(chosen);
    inputs.push_back(m.sinks ? g.weight(path, "sinks", {m.heads}) : kNoTensor);
    const auto results = g.nodes("CompressedAttention", path, std::move(inputs), outputs,
                                 {{"num_heads", m.heads},
                                  {"window", m.window},
                                  {"ratio", m.ratio},
                                  {"keeps", m.index_heads > 0 ? m.index_keeps : 0}},
                                 kOwnDomain);
    g.present(results[1], {"batch", 1, kept_positions(grown, m.window), m.head_size});
    if (m.ratio > 0)
        g.present(results[2], {"batch", 1, groups(grown), m.head_size});
    const std::int64_t inner = m.output_groups * m.output_rank;
    const TensorId y = g.grouped_linear(path + "/o_a_proj", results[0], m.output_groups, width, inner);
    return g.linear(path + "/o_b_proj", y, inner, d, false);
}

} // namespace archsim::checkpoint
