// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): keys and values of all heads are
// products of one narrow latent vector per position, and only that vector is cached. It is computed in
// whichever of two equal forms takes fewer multiplications:
//
//   expanded: keys and values of every position and head, then attention of `heads` heads (prompts)
//   absorbed: queries are taken to the latent space, results back, and all heads share the latent vectors as
//   keys
//             and values (decoding; section 2.1.2)
//
// Worked: 128 heads of 128 + 64 and 128, rank 512. One token over 1000 positions: absorbed 128 x (128 + 128)
// x 512 + 1000 x 128 x (576 + 512) = 0.16 G, expanded 1000 x 512 x 128 x 256 + 1000 x 128 x 320 = 16.8 G.
//
// LatentKeys and LatentValues hold the two halves of the matrix; LatentAttention lies between them.
//
// Attention over a window of positions and over compressed ones (DeepSeek-V4, section 2.3; transformers,
// models/deepseek_v4): one vector per position, key and value at once and shared by all heads, of which the
// last `window` are kept, and beside them one vector for every `ratio` positions. A sparse index may choose
// `keeps` of these for each query.
//
// Worked: 64 heads of 512, window 128, ratio 4, 512 kept, one token over 100,000: 128 + 512 of 25,000
// vectors, 64 x 640 x 1024 = 41.9 M multiply-accumulates.

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

struct Latent {
    double batch = 1, fresh = 1, total = 1, heads = 1, rank = 1, plain = 1, rotary = 0, value = 1, keeps = 0;
    AttentionSizes absorbed, expanded;
    bool absorbs = true;

    double pairs() const { return attended_pairs(absorbed); }
};

/// Places of the new and the cached latent vectors among the inputs, and of the matrix.
constexpr std::size_t kLatentInput = 1, kPastInput = 2, kWeights = 3;

/// A size that no file makes negative.
static double attribute(const NodeContext& c, std::string_view key) {
    return static_cast<double>(std::max<std::int64_t>(0, c.integer(key, 0)));
}

static Latent latent_of(const NodeContext& c) {
    Latent l;
    l.heads = attribute(c, "num_heads");
    l.rank = attribute(c, "kv_rank");
    l.plain = attribute(c, "plain_size");
    l.rotary = attribute(c, "rotary_size");
    l.value = attribute(c, "value_size");
    l.keeps = attribute(c, "keeps");
    if (l.heads < 1 || l.rank < 1 || l.plain < 1 || l.value < 1)
        malformed("num_heads, kv_rank, plain_size and value_size must be positive");
    l.batch = extent(c, kLatentInput, 0);
    l.fresh = extent(c, kLatentInput, 1);
    l.total = extent(c, kPastInput, 2) + l.fresh;
    AttentionSizes s;
    s.batch = l.batch;
    s.heads = l.heads;
    s.query_length = l.fresh;
    s.kv_length = l.total;
    s.causal = true;
    s.causal_offset = l.total - l.fresh;
    s.window = l.keeps; // a sparse index leaves that many positions to each query
    l.absorbed = l.expanded = s;
    l.absorbed.kv_heads = 1;
    l.absorbed.head_size = l.rank + l.rotary;
    l.absorbed.value_size = l.rank;
    l.expanded.kv_heads = l.heads;
    l.expanded.head_size = l.plain + l.rotary;
    l.expanded.value_size = l.value;
    const double matrix = l.heads * (l.plain + l.value) * l.rank, scores = l.heads * l.pairs();
    l.absorbs = l.fresh * matrix + scores * (2 * l.rank + l.rotary) <=
                l.total * matrix + scores * (l.plain + l.rotary + l.value);
    return l;
}

/// One half of the matrix, on queries or results when absorbed and on every position when expanded.
static void half_work(NodeContext& c, const Latent& l, double size, bool keys) {
    Contraction product;
    if (l.absorbs) {
        product.groups = l.heads;
        product.m = l.batch * l.fresh;
        product.n = keys ? l.rank : size;
        product.k = keys ? size : l.rank;
    } else {
        product.m = l.batch * l.total;
        product.n = l.heads * size;
        product.k = l.rank;
    }
    product.weights_constant = c.is_constant(kWeights);
    add_product(c, product);
    c.mark_learned(kWeights);
    c.mark_kv_cache_input(kPastInput);
    if (l.absorbs) { // nothing of the latent vectors is read
        read_part(c, kLatentInput, 0.0);
        read_part(c, kPastInput, 0.0);
    } else {
        read_part(c, 0, 0.0);
    }
}

static std::int64_t whole(double size) {
    return static_cast<std::int64_t>(size);
}

/// query, latent, past, weights: queries in the latent space, or keys and values of all positions.
static void infer_keys(NodeContext& c) {
    const Latent l = latent_of(c);
    if (l.absorbs)
        c.set_output(0, c.type(0), {whole(l.batch), whole(l.fresh), whole(l.heads * (l.rank + l.rotary))});
    else
        c.set_output(0, c.type(0), {whole(l.batch), whole(l.total), whole(l.heads * (l.plain + l.value))});
}

static void work_keys(NodeContext& c) {
    const Latent l = latent_of(c);
    half_work(c, l, l.plain, true);
}

/// attended, latent, past, weights: results of all heads; expanded, the values of all positions were made
/// from them.
static void infer_values(NodeContext& c) {
    const Latent l = latent_of(c);
    c.set_output(0, c.type(0), {whole(l.batch), whole(l.fresh), whole(l.heads * l.value)});
}

static void work_values(NodeContext& c) {
    const Latent l = latent_of(c);
    half_work(c, l, l.value, false);
}

/// query or keys, latent, past, chosen positions: the attended rows, and the cache with the new latent
/// vectors.
static void infer_latent(NodeContext& c) {
    const Latent l = latent_of(c);
    const double size = l.absorbs ? l.rank : l.value;
    c.set_output(0, c.type(0), {whole(l.batch), whole(l.fresh), whole(l.heads * size)});
    c.set_output(1, c.type(kPastInput), {whole(l.batch), 1, whole(l.total), c.dim(kPastInput, 3)});
}

static void work_latent(NodeContext& c) {
    const Latent l = latent_of(c);
    attention_work(c, l.absorbs ? l.absorbed : l.expanded);
    add_rotation(c, l.batch * l.fresh * l.heads * l.rotary);
    c.mark_kv_cache_input(kPastInput);
    c.mark_kv_cache_output(1);
    const double past = l.total - l.fresh, width = l.rank + l.rotary;
    const double seen = l.keeps > 0 ? std::min(past, l.keeps * l.fresh) : past;
    read_part(c, kPastInput, l.batch * seen * width);
    write_part(c, 1, l.batch * l.fresh * width);
}

/// Positions that one key of an index stands for: more than one where they are compressed (DeepSeek-V4).
static std::int64_t positions_per_key(const NodeContext& c) {
    return std::max<std::int64_t>(1, c.integer("ratio", 1));
}

/// query, key, weights, cached keys: narrow scores of every position, of which the best are chosen
/// (DeepSeek-V3.2).
static void infer_index(NodeContext& c) {
    const std::int64_t fresh = c.dim(0, 1), ratio = positions_per_key(c);
    const std::int64_t total = (c.dim(3, 2) * ratio + fresh) / ratio;
    const std::int64_t keeps = std::min(total, std::max<std::int64_t>(1, c.integer("keeps", 1)));
    c.set_output(0, DataType::int32, {c.dim(0, 0), fresh, keeps});
    c.set_output(1, c.type(3), {c.dim(0, 0), 1, total, c.dim(3, 3)});
}

static void work_index(NodeContext& c) {
    const auto heads = static_cast<double>(std::max<std::int64_t>(1, c.integer("num_heads", 1)));
    AttentionSizes s;
    s.batch = extent(c, 0, 0);
    s.query_length = extent(c, 0, 1);
    const auto ratio = static_cast<double>(positions_per_key(c));
    s.kv_length = extent(c, 3, 2) * ratio + s.query_length;
    s.causal = true;
    s.causal_offset = s.kv_length - s.query_length;
    const double pairs = s.batch * attended_pairs(s) / ratio, size = extent(c, 3, 3);
    add_product(c, {.groups = s.batch,
                    .m = s.query_length * heads,
                    .n = s.query_length > 0 ? pairs / (s.batch * s.query_length) : 0,
                    .k = size,
                    .weights_constant = false});
    // Per score a rectifier and the weighted sum over heads; then the selection walks them once.
    c.work().vector_ops += pairs * (2 * heads + 1);
    // Kernels after each other (DeepSeek-V3.2-Exp, inference/model.py, Indexer.forward): positions are
    // rotated in, queries and keys are transformed (Hadamard) and quantised, the key is stored, the weights
    // are scaled, the positions scored, the best chosen.
    constexpr double kKernels = 9;
    c.work().serial_steps = kKernels;
    c.mark_kv_cache_input(3);
    c.mark_kv_cache_output(1);
    write_part(c, 1, s.batch * s.query_length / ratio * size);
}

constexpr std::size_t kWindow = 2, kCompressed = 3;

struct Compressed {
    double batch = 1, heads = 1, fresh = 1, size = 1, window = 1, ratio = 0, keeps = 0, past = 0;

    /// Vectors made of `positions`.
    double entries(double positions) const { return ratio > 0 ? std::floor(positions / ratio) : 0; }
    /// Pairs of one head: those of the window, and each query's share of the vectors before it.
    double pairs() const {
        AttentionSizes s;
        s.query_length = fresh;
        s.kv_length = past + fresh;
        s.causal = true;
        s.causal_offset = past;
        s.window = window;
        double sum = attended_pairs(s);
        if (ratio > 0) {
            s.window = keeps * ratio;
            sum += attended_pairs(s) / ratio;
        }
        return sum;
    }
};

/// query [batch, tokens, heads x size], vectors [batch, tokens, size], cached window and compressed vectors
/// [batch, 1, kept, size], chosen ones.
static Compressed compressed_of(const NodeContext& c) {
    Compressed a;
    a.heads = attribute(c, "num_heads");
    a.window = attribute(c, "window");
    a.ratio = c.has_input(kCompressed) ? attribute(c, "ratio") : 0;
    a.keeps = attribute(c, "keeps");
    if (a.heads < 1 || a.window < 1 || (c.has_input(kCompressed) && a.ratio < 1))
        malformed("num_heads, window and ratio must be positive");
    a.batch = extent(c, 1, 0);
    a.fresh = extent(c, 1, 1);
    a.size = extent(c, 1, 2);
    a.past = extent(c, kWindow, 2);
    if (a.ratio > 0)
        a.past = std::max(a.past, extent(c, kCompressed, 2) * a.ratio);
    return a;
}

static void infer_compressed(NodeContext& c) {
    const Compressed a = compressed_of(c);
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, c.type(kWindow),
                 {whole(a.batch), 1, whole(std::min(a.past + a.fresh, a.window)), whole(a.size)});
    if (a.ratio > 0)
        c.set_output(2, c.type(kCompressed),
                     {whole(a.batch), 1, whole(a.entries(a.past + a.fresh)), whole(a.size)});
}

static void work_compressed(NodeContext& c) {
    const Compressed a = compressed_of(c);
    AttentionSizes s;
    s.batch = a.batch;
    s.heads = a.heads;
    s.query_length = a.fresh;
    s.kv_length = a.fresh > 0 ? a.pairs() / a.fresh : 0; // the mean of what a query sees
    s.head_size = s.value_size = a.size;
    attention_work(c, s);
    const auto read = [&](std::size_t input, double most) {
        c.mark_kv_cache_input(input);
        const double kept = extent(c, input, 2);
        read_part(c, input, a.batch * std::min(kept, most) * a.size);
    };
    read(kWindow, a.window);
    c.mark_kv_cache_output(1);
    write_part(c, 1, a.batch * std::min(a.fresh, a.window) * a.size);
    if (a.ratio <= 0)
        return;
    const double all = extent(c, kCompressed, 2);
    read(kCompressed, a.keeps > 0 ? a.keeps * a.fresh : all);
    c.mark_kv_cache_output(2);
    write_part(c, 2, a.batch * a.fresh / a.ratio * a.size);
}

/// vectors and their scores [batch, tokens, width]: a softmax over each group of positions weighs them.
static void infer_compression(NodeContext& c) {
    c.set_output(0, c.type(0), {c.dim(0, 0), c.dim(0, 1), std::max<std::int64_t>(1, c.integer("size", 1))});
}

static void work_compression(NodeContext& c) {
    constexpr double kOperations = 4; // the bias, maximum and sum of the scores, the weighted sum
    c.work().vector_ops = kOperations * c.elements(0);
    c.work().special_ops = c.elements(0);
    c.mark_learned(2);
}

/// Binding reads the attribute; there is nothing to infer.
static void infer_stored(NodeContext&) {}

constexpr RowKinds kArchsim{kArchsimDomain};

constexpr OperatorRow kLatentRows[] = {
    kArchsim.product(
        "LatentKeys", 1, infer_keys, work_keys,
        "latent attention: queries to the latent space, or keys of all positions, whichever multiplies less"),
    kArchsim.attention("LatentAttention", 1, infer_latent, work_latent,
                       "latent attention over a cache of one narrow vector per position"),
    kArchsim.product("LatentValues", 1, infer_values, work_values,
                     "latent attention: results back from the latent space, or values of all positions"),
    kArchsim.product("SparseIndex", 1, infer_index, work_index,
                     "scores every cached position with a few narrow heads and keeps the best"),
    of_unknown(
        kArchsim.transparent("Stored", 1, infer_stored, work_free,
                             "says how many bits the elements of its inputs take in memory; nothing runs")),
    kArchsim.attention("CompressedAttention", 1, infer_compressed, work_compressed,
                       "attention over the last positions and over one vector for every few earlier ones"),
    kArchsim.of(OpKind::softmax,
                FusionClass::opaque)("CompressPositions", 1, infer_compression, work_compression,
                                     "weighs the positions of a group by a softmax and keeps their sum"),
};

constinit const std::span<const OperatorRow> latent_attention_rows = kLatentRows;

} // namespace archsim
