// Attention and rotary positions of ai.onnx, and the counting that all attention operators share.

#include "ops/families.hpp"

#include <cmath>
#include <numeric>

namespace archsim {

/// Pairs of consecutive queries that each see their chunk up to themselves. A pass that starts behind the
/// first chunk may begin anywhere in one; what is left beside whole chunks counts as the end of one, the most
/// that it can be, so that no step gets cheaper with its context. Worked: 6 queries from the start in chunks
/// of 4 see 1 + 2 + 3 + 4 + 1 + 2 keys; one query behind many sees 4.
static double chunked_pairs(double queries, double before, double chunk) {
    const auto ramp = [](double n) { return n * (n + 1) / 2; };
    const double whole = std::floor(queries / chunk), rest = queries - whole * chunk;
    if (before + queries <= chunk)
        return ramp(before + queries) - ramp(before);
    if (before <= 0)
        return whole * ramp(chunk) + ramp(rest);
    return whole * ramp(chunk) + ramp(chunk) - ramp(chunk - rest);
}

double attended_pairs(const AttentionSizes& s) {
    if (s.chunked && s.window > 0 && s.causal)
        return chunked_pairs(s.query_length, s.causal_offset, s.window);
    const double limit = s.window > 0 ? std::min(s.kv_length, s.window) : s.kv_length;
    if (!s.causal)
        return s.query_length * limit;
    // Query i sees min(limit, i + 1 + offset) keys: a ramp, then a plateau.
    const double ramp = std::clamp(limit - s.causal_offset, 0.0, s.query_length);
    return ramp * s.causal_offset + ramp * (ramp + 1) / 2 + (s.query_length - ramp) * limit;
}

AttentionSizes AttentionDims::sizes() const {
    AttentionSizes s;
    s.batch = static_cast<double>(batch);
    s.heads = static_cast<double>(heads);
    s.kv_heads = static_cast<double>(kv_heads);
    s.query_length = static_cast<double>(query);
    s.kv_length = static_cast<double>(total);
    s.head_size = static_cast<double>(head);
    s.value_size = static_cast<double>(value);
    s.causal_offset = s.kv_length - s.query_length;
    return s;
}

void attention_work(NodeContext& c, const AttentionSizes& s) {
    if (s.heads <= 0 || s.kv_heads <= 0)
        malformed("the number of heads must be positive");
    OperatorWork& work = c.work();
    work.attention = AttentionShape{s.batch,     s.heads,     s.kv_heads,   s.query_length,
                                    s.kv_length, s.head_size, s.value_size, s.causal};
    const double pairs = attended_pairs(s);
    const double mean_keys = s.query_length > 0 ? pairs / s.query_length : 0;
    Contraction scores{.groups = s.batch * s.kv_heads,
                       .m = s.query_length * s.heads / s.kv_heads,
                       .n = mean_keys,
                       .k = s.head_size,
                       .weights_constant = false};
    Contraction values = scores;
    values.n = s.value_size;
    values.k = mean_keys;
    work.contractions.push_back(scores);
    work.contractions.push_back(values);
    work.macs += scores.macs() + values.macs();
    // Per score: scaling, maximum, subtraction, sum, and the mask; the division is per result element.
    const double all_scores = s.batch * s.heads * pairs;
    work.vector_ops += all_scores * (s.mask ? 5 : 4) + (s.softcap ? 2 * all_scores : 0);
    work.special_ops += all_scores * (s.softcap ? 2 : 1) + s.batch * s.heads * s.query_length * s.value_size;
}

void add_rotation(NodeContext& c, double elements) {
    c.work().vector_ops += 3 * elements;
}

/// Sizes of ai.onnx.Attention: Q, K, V, mask, past key, past value, valid lengths.
struct OnnxAttention : AttentionDims {
    AttentionSizes counted;
    bool packed = false; ///< rank 3: heads side by side in the last axis
};

static OnnxAttention onnx_attention(const NodeContext& c) {
    OnnxAttention a;
    const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
    a.packed = q.size() == 3;
    if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
        malformed("query, key and value need the same rank, 3 or 4");
    a.batch = q[0];
    std::int64_t fresh = 0;
    if (a.packed) {
        a.heads = c.integer("q_num_heads", 0);
        a.kv_heads = c.integer("kv_num_heads", 0);
        if (a.heads < 1 || a.kv_heads < 1)
            malformed("three-dimensional inputs need q_num_heads and kv_num_heads");
        a.query = q[1];
        fresh = k[1];
        a.head = q[2] / a.heads;
        a.value = v[2] / a.kv_heads;
    } else {
        a.heads = q[1];
        a.kv_heads = k[1];
        a.query = q[2];
        fresh = k[2];
        a.head = q[3];
        a.value = v[3];
    }
    std::int64_t past = c.has_input(4) ? c.dim(4, 2) : 0;
    a.total = past + fresh;
    double attended = static_cast<double>(a.total);
    if (constexpr std::size_t kValid = 6; c.has_input(kValid)) {
        // Keys and values lie in a buffer of fixed length, of which so many are valid; the queries are the
        // last of these. Where nobody says how many, it is full.
        if (const Constant* valid = c.value(kValid); valid && !valid->ints.empty())
            attended = std::clamp(std::accumulate(valid->ints.begin(), valid->ints.end(), 0.0) /
                                      static_cast<double>(valid->ints.size()),
                                  0.0, attended);
        past = std::max<std::int64_t>(0, saturated_int(attended) - a.query);
    }
    AttentionSizes& s = a.counted;
    s = a.sizes();
    s.kv_length = attended;
    s.causal = c.integer("is_causal", 0) != 0;
    s.causal_offset = static_cast<double>(past);
    s.mask = c.has_input(3);
    s.softcap = c.real("softcap", 0.0) != 0.0;
    return a;
}

static void infer_attention(NodeContext& c) {
    const OnnxAttention a = onnx_attention(c);
    if (a.packed)
        c.set_output(0, c.type(0), {a.batch, a.query, a.heads * a.value});
    else
        c.set_output(0, c.type(0), {a.batch, a.heads, a.query, a.value});
    c.set_output(1, c.type(1), {a.batch, a.kv_heads, a.total, a.head});
    c.set_output(2, c.type(2), {a.batch, a.kv_heads, a.total, a.value});
    c.set_output(3, c.type(0), {a.batch, a.heads, a.query, a.total});
}

static void work_attention(NodeContext& c) {
    const AttentionSizes s = onnx_attention(c).counted;
    attention_work(c, s);
    for (std::uint16_t i = 0; i < 2; ++i) {
        const std::uint16_t past = 4 + i, present = 1 + i;
        c.mark_kv_cache_input(past);
        c.mark_kv_cache_output(present);
        // A past and a present cache share their buffer in every serving runtime: new positions are appended.
        if (c.has_input(past) && c.has_output(present))
            c.work().partial_writes.emplace_back(present, s.batch * s.kv_heads *
                                                              (s.kv_length - s.causal_offset) *
                                                              (i == 0 ? s.head_size : s.value_size));
    }
}

static void work_rotary(NodeContext& c) {
    mark_learned_from(c, 1, false); // positions, cosines and sines
    double rotated = c.elements(0);
    const auto part = static_cast<double>(c.integer("rotary_embedding_dim", 0));
    const std::int64_t heads = c.integer("num_heads", 0);
    const double head = c.rank(0) == 4 ? extent(c, 0, 3)
                        : heads > 0    ? extent(c, 0, 2) / static_cast<double>(heads)
                                       : 0;
    if (part > 0 && head > 0)
        rotated *= std::min(1.0, part / head);
    add_rotation(c, rotated);
}

constexpr OperatorRow kAttentionRows[] = {
    kOnnx.attention(
        "Attention", 23, infer_attention, work_attention,
        "softmax(Q K' scale + mask) V, with a cache of keys and values; a causal mask halves the work"),
    kOnnx.elementwise("RotaryEmbedding", 23, infer_same, work_rotary, {3, 0},
                      "rotates pairs of elements by position: 3 operations per element"),
    kMicrosoft.elementwise("MRotaryEmbedding", 1, infer_same, work_rotary, {3, 0},
                           "rotary positions with separate time, height and width indices"),
};

constinit const std::span<const OperatorRow> attention_rows = kAttentionRows;

} // namespace archsim
