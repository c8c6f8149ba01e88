// Compressed attention (DeepSeek-V4, sections 2.3.1 and 2.3.2; transformers, models/deepseek_v4): queries
// through a narrow width, one vector per position that is key and value of all heads, a window of them, and
// vectors that stand for several positions each.

#include "checkpoint/graph_maker.hpp"

namespace archsim::checkpoint {

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
