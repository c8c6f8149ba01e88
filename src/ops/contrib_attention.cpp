// Attention operators of com.microsoft (ContribOperators.md of onnxruntime), as its optimiser and model
// builder write them.

#include "ops/families.hpp"

#include <limits>

namespace archsim {

static std::int64_t positive_heads(const NodeContext& c, std::string_view key) {
    const std::int64_t heads = c.integer(key, 0);
    if (heads < 1)
        malformed("attribute '" + std::string(key) + "' must be positive");
    return heads;
}

/// The product of `rows` x K inputs by a K x N projection held in input `weights`.
static void project(NodeContext& c, std::size_t weights, std::size_t bias, double rows) {
    Contraction projection{.m = rows,
                           .n = extent(c, weights, 1),
                           .k = extent(c, weights, 0),
                           .weights_constant = c.is_constant(weights)};
    add_product(c, projection);
    c.mark_learned(weights);
    if (c.has_input(bias)) {
        c.work().vector_ops += rows * projection.n;
        c.mark_learned(bias);
    }
}

/// Caches of keys (input `past`, output 1) and values (the next ones). A past and a present cache share their
/// buffer in every serving runtime, so only new positions are written; of a longer buffer only the valid part
/// is read, and of that the window.
static void mark_caches(NodeContext& c, std::size_t past, const AttentionSizes& s) {
    const double cached = std::max(0.0, s.kv_length - s.query_length);
    const double seen = s.window > 0 ? std::min(cached, s.window) : cached;
    for (std::uint16_t i = 0; i < 2; ++i) {
        const auto in = static_cast<std::uint16_t>(past + i), out = static_cast<std::uint16_t>(1 + i);
        c.mark_kv_cache_input(in);
        c.mark_kv_cache_output(out);
        if (!c.has_input(in))
            continue;
        const auto length = extent(c, in, 2);
        if (length > seen)
            read_part(c, in, c.elements(in) / length * seen);
        if (!c.has_output(out) || c.output(out).shape[2] <= 0)
            continue;
        // A cache that keeps no more than the window takes the end of a longer prompt.
        const auto kept = static_cast<double>(c.output(out).shape[2]);
        write_part(c, out, c.output(out).elements() / kept * std::clamp(s.kv_length - cached, 0.0, kept));
    }
}

// --- Attention, QAttention, DecoderMaskedSelfAttention, PackedAttention: projection and attention in one

/// Index of an input that an operator does not have.
constexpr std::size_t kNoInput = std::numeric_limits<std::size_t>::max();

/// Where these operators keep what; their merged weights are [hidden, q + k + v].
struct MergedInputs {
    std::size_t weights = 1, bias = 2, mask = 3, past = 4, attention_bias = 5;
};
constexpr MergedInputs kAttentionInputs{};
constexpr MergedInputs kQuantizedInputs{1, 2, 5, 8, kNoInput};
constexpr MergedInputs kMaskedInputs{1, 2, 3, 4, 5};

/// The width of the values of all heads.
static std::int64_t value_width(const NodeContext& c, std::size_t weights) {
    const auto* sizes = c.integers("qkv_hidden_sizes");
    return sizes && sizes->size() == 3 ? (*sizes)[2] : c.dim(weights, 1) / 3;
}

static AttentionDims merged_attention(const NodeContext& c, const MergedInputs& at) {
    AttentionDims a;
    a.heads = a.kv_heads = positive_heads(c, "num_heads");
    a.batch = c.dim(0, 0);
    a.query = c.dim(0, 1);
    const auto* sizes = c.integers("qkv_hidden_sizes");
    a.head = (sizes && sizes->size() == 3 ? (*sizes)[0] : c.dim(at.weights, 1) / 3) / a.heads;
    a.value = value_width(c, at.weights) / a.heads;
    const std::int64_t past = c.has_input(at.past) ? c.dim(at.past, 3) : 0;
    const bool shared = c.integer("past_present_share_buffer", 0) != 0;
    a.cache = shared ? past : past + a.query;
    // A shared buffer is as long as the longest sequence; the valid part is a run-time value unless it is
    // given.
    const std::size_t valid = at.past + 2;
    if (shared && c.value(valid))
        a.total = c.scalar_int(valid) + a.query;
    else
        a.total = shared ? std::max(past, a.query) : a.cache;
    return a;
}

template <const MergedInputs& At>
static void infer_merged(NodeContext& c) {
    const AttentionDims a = merged_attention(c, At);
    // The quantised form takes 8-bit inputs and returns the scale's type.
    const DataType type = &At == &kQuantizedInputs ? c.type(3) : c.type(0);
    c.set_output(0, type, {a.batch, a.query, value_width(c, At.weights)});
    c.set_output(1, type, {2, a.batch, a.heads, a.cache, a.head});
}

template <const MergedInputs& At>
static void work_merged(NodeContext& c) {
    const AttentionDims a = merged_attention(c, At);
    project(c, At.weights, At.bias, static_cast<double>(a.batch) * static_cast<double>(a.query));
    AttentionSizes s = a.sizes();
    s.causal = c.integer("unidirectional", 0) != 0;
    s.mask = c.has_input(At.mask) || c.has_input(At.attention_bias);
    attention_work(c, s);
    if (c.integer("do_rotary", 0) != 0)
        add_rotation(c, 2 * s.batch * s.query_length * s.heads * s.head_size);
    c.mark_kv_cache_input(At.past);
    c.mark_kv_cache_output(1);
    if (c.has_input(At.past) && c.has_output(1))
        write_part(c, 1, 2 * s.batch * s.heads * s.query_length * s.head_size);
    if (&At == &kQuantizedInputs) {
        run_int8(c, {3u, 4u, 6u, 7u});
    }
}

/// input [tokens, hidden], weights, bias, token_offset [batch, sequence], cumulative lengths.
static void infer_packed(NodeContext& c) {
    c.set_output(0, c.type(0), {c.dim(0, 0), value_width(c, 1)});
}

static AttentionSizes packed_sizes(const NodeContext& c, std::size_t offsets, std::int64_t tokens,
                                   std::int64_t hidden, std::int64_t value_hidden) {
    const std::int64_t heads = positive_heads(c, "num_heads"),
                       batch = std::max<std::int64_t>(c.dim(offsets, 0), 1);
    const std::int64_t length = tokens / batch + (tokens % batch != 0);
    return AttentionDims{batch, heads, heads, length, length, 0, hidden / heads, value_hidden / heads}
        .sizes();
}

/// Padding is removed, so a sequence has tokens / batch positions on average.
static void work_packed(NodeContext& c) {
    project(c, 1, 2, extent(c, 0, 0));
    AttentionSizes s = packed_sizes(c, 3, c.dim(0, 0), c.dim(1, 1) / 3, c.output(0).shape[1]);
    s.mask = c.has_input(5);
    attention_work(c, s);
}

static void infer_packed_multi_head(NodeContext& c) {
    const std::int64_t hidden = c.has_input(2) ? c.dim(2, 1) : c.dim(0, 1) * c.dim(0, -1);
    c.set_output(0, c.type(0), {c.dim(0, 0), hidden});
}

static void work_packed_multi_head(NodeContext& c) {
    const std::int64_t hidden = c.output(0).shape[1];
    AttentionSizes s = packed_sizes(c, 4, c.dim(0, 0), c.has_input(2) ? c.dim(0, 1) : hidden, hidden);
    s.mask = c.has_input(6);
    attention_work(c, s);
    if (c.has_input(3))
        c.work().vector_ops += 3 * c.output(0).elements();
}

// --- MultiHeadAttention, DecoderMaskedMultiHeadAttention

struct MultiHeadInputs {
    std::size_t bias = 3, mask = 4, attention_bias = 5, past_key = 6, past_value = 7, past_length = 8;
};
constexpr MultiHeadInputs kMultiHead{};
constexpr MultiHeadInputs kDecoderMultiHead{10, 3, 4, 5, 6, 7};

static AttentionDims multi_head(const NodeContext& c, const MultiHeadInputs& at) {
    AttentionDims a;
    a.heads = a.kv_heads = positive_heads(c, "num_heads");
    const Shape& q = c.shape(0);
    if (q.size() != 3 && q.size() != 5)
        malformed("the query needs rank 3, or 5 when it packs keys and values");
    a.batch = q[0];
    a.query = q[1];
    a.head = q.size() == 5 ? q[4] : q[2] / a.heads;
    a.value = a.head;
    std::int64_t fresh = a.query;
    bool cross = false;
    if (c.has_input(1)) {
        const Shape& k = c.shape(1);
        cross = k.size() == 4; // keys of a cross attention, already split into heads
        fresh = k.size() == 4 ? k[2] : k.size() > 1 ? k[1] : fresh;
    }
    if (c.has_input(2))
        a.value = c.rank(2) == 4 ? c.dim(2, 3) : c.dim(2, 2) / a.heads;
    const std::int64_t past = c.has_input(at.past_key) && !cross ? c.dim(at.past_key, 2) : 0;
    const bool shared = c.has_input(at.past_length) || c.integer("past_present_share_buffer", 0) != 0;
    a.cache = shared && past > 0 ? past : past + fresh;
    if (shared && c.value(at.past_length))
        a.total = c.scalar_int(at.past_length) + fresh;
    else
        a.total = a.cache;
    return a;
}

template <const MultiHeadInputs& At>
static void infer_multi_head(NodeContext& c) {
    const AttentionDims a = multi_head(c, At);
    c.set_output(0, c.type(0), {a.batch, a.query, a.heads * a.value});
    c.set_output(1, c.type(0), {a.batch, a.heads, a.cache, a.head});
    c.set_output(2, c.type(0), {a.batch, a.heads, a.cache, a.value});
    c.set_output(3, c.type(0), {a.batch, a.heads, a.query, a.total});
}

template <const MultiHeadInputs& At>
static void work_multi_head(NodeContext& c) {
    const AttentionDims a = multi_head(c, At);
    AttentionSizes s = a.sizes();
    s.causal = c.integer("unidirectional", 0) != 0;
    s.mask = c.has_input(At.mask) || c.has_input(At.attention_bias);
    attention_work(c, s);
    if (c.has_input(At.bias)) {
        c.work().vector_ops += s.batch * s.query_length * s.heads * (2 * s.head_size + s.value_size);
        c.mark_learned(At.bias);
    }
    mark_caches(c, At.past_key, s);
}

// --- GroupQueryAttention, SparseAttention: query, key, value, past_key, past_value

struct GroupedInputs {
    std::size_t total_length = 6, cosine = 7, attention_bias = 10;
};
constexpr GroupedInputs kGrouped{};
constexpr GroupedInputs kSparse{7, 9, kNoInput};

static AttentionDims grouped(const NodeContext& c, const GroupedInputs& at) {
    AttentionDims a;
    a.heads = positive_heads(c, "num_heads");
    a.kv_heads = positive_heads(c, "kv_num_heads");
    a.batch = c.dim(0, 0);
    a.query = c.dim(0, 1);
    // Without separate keys the query packs all three, unless an earlier layer appended them to the cache.
    const bool appended = c.integer("shared_cache", 0) != 0;
    a.head = c.has_input(1) || appended ? c.dim(0, 2) / a.heads : c.dim(0, 2) / (a.heads + 2 * a.kv_heads);
    a.value = c.has_input(2) ? c.dim(2, 2) / a.kv_heads : a.head;
    const std::int64_t past = c.has_input(3) ? c.dim(3, 2) : 0;
    const bool known = c.value(at.total_length) != nullptr;
    const std::int64_t total = known      ? c.scalar_int(at.total_length)
                               : appended ? std::max(past, a.query)
                                          : past + a.query;
    a.total = total;
    a.cache = std::max(past, total);
    const std::int64_t window = c.integer("local_window_size", -1);
    if (window > 0 && c.integer("keeps_window", 0) != 0)
        a.cache = std::min(a.cache, window);
    return a;
}

template <const GroupedInputs& At>
static void infer_grouped(NodeContext& c) {
    const AttentionDims a = grouped(c, At);
    const DataType key_type = c.has_input(3) ? c.type(3) : c.type(0);
    const DataType value_type = c.has_input(4) ? c.type(4) : c.type(0);
    // Quantised caches may pack two values in a byte, which their last axis shows.
    const std::int64_t key_width = c.has_input(3) ? c.dim(3, 3) : a.head;
    const std::int64_t value_width = c.has_input(4) ? c.dim(4, 3) : a.value;
    c.set_output(0, c.type(0), {a.batch, a.query, a.heads * a.value});
    c.set_output(1, key_type, {a.batch, a.kv_heads, a.cache, key_width});
    c.set_output(2, value_type, {a.batch, a.kv_heads, a.cache, value_width});
    c.set_output(3, c.type(0), {a.batch, a.heads, a.query, a.total});
}

template <const GroupedInputs& At>
static void work_grouped(NodeContext& c) {
    const AttentionDims a = grouped(c, At);
    AttentionSizes s = a.sizes();
    s.causal = c.integer("causal", 1) != 0;
    s.window = static_cast<double>(std::max<std::int64_t>(c.integer("local_window_size", -1), 0));
    // Blocks that a sparse index chooses leave that many positions to each query, and the cache keeps all.
    if (const std::int64_t chosen = c.integer("keeps", 0); chosen > 0)
        s.window = static_cast<double>(chosen);
    s.chunked = c.integer("chunked", 0) != 0;
    s.mask = c.has_input(At.attention_bias);
    s.softcap = c.real("softcap", 0.0) != 0.0;
    attention_work(c, s);
    if (c.integer("do_rotary", 0) != 0) {
        add_rotation(c, s.batch * s.query_length * s.head_size * (s.heads + s.kv_heads));
        // Only the rows of the tables for the new positions are read.
        const double rows = s.batch * s.query_length;
        for (const std::size_t table : {At.cosine, At.cosine + 1})
            if (c.has_input(table)) {
                read_part(c, table, std::min(c.elements(table), rows * extent(c, table, -1)));
                c.mark_learned(table, false);
            }
    }
    mark_caches(c, 3, s);
}

// --- LongformerAttention: input, weight, bias, mask, global weight, global bias, global mask

/// Each position sees `window` positions on both sides; global tokens are run-time values and not counted
/// apart.
static void work_longformer(NodeContext& c) {
    const std::int64_t heads = positive_heads(c, "num_heads");
    project(c, 1, 2, extent(c, 0, 0) * extent(c, 0, 1));
    const std::int64_t head = c.dim(0, 2) / heads;
    AttentionSizes s =
        AttentionDims{c.dim(0, 0), heads, heads, c.dim(0, 1), c.dim(0, 1), 0, head, head}.sizes();
    s.window = 2 * static_cast<double>(c.integer("window", 0)) + 1;
    s.mask = true;
    attention_work(c, s);
}

// --- PagedAttention: query, key, value, key_cache, value_cache, cumulative lengths, past lengths, block
// table

static void infer_paged(NodeContext& c) {
    const std::int64_t heads = positive_heads(c, "num_heads"), kv = positive_heads(c, "kv_num_heads");
    const std::int64_t hidden = c.has_input(1) ? c.dim(0, 1) : c.dim(0, 1) / (heads + 2 * kv) * heads;
    c.set_output(0, c.type(0), {c.dim(0, 0), hidden});
    c.set_output(1, c.type(3), c.shape(3));
    if (c.has_input(4))
        c.set_output(2, c.type(4), c.shape(4));
}

/// The lengths are run-time values: every sequence is taken to fill the blocks that its table can name.
static void work_paged(NodeContext& c) {
    const std::int64_t heads = positive_heads(c, "num_heads"), kv = positive_heads(c, "kv_num_heads");
    const std::int64_t batch = std::max<std::int64_t>(c.dim(7, 0), 1), tokens = c.dim(0, 0);
    const std::int64_t length = tokens / batch + (tokens % batch != 0);
    const std::int64_t total = std::max(length, c.dim(7, 1) * c.dim(3, 1));
    const std::int64_t head = c.output(0).shape[1] / heads;
    AttentionSizes s = AttentionDims{batch, heads, kv, length, total, 0, head, head}.sizes();
    s.causal = c.integer("is_causal", 1) != 0;
    s.window = static_cast<double>(std::max<std::int64_t>(c.integer("local_window_size", -1), 0));
    attention_work(c, s);
    for (const std::size_t cache : {3u, 4u}) {
        c.mark_kv_cache_input(cache);
        if (c.has_input(cache))
            read_part(c, cache,
                      std::min(c.elements(cache), s.batch * s.kv_length * s.kv_heads * s.head_size));
    }
    c.output(0).data_dependent = true;
    c.note(FindingKind::data_dependent_shape, Severity::note,
           "the lengths of the cached sequences are run-time values; their upper bound " +
               std::to_string(total) + " is used",
           "bind a block table of the expected length");
}

constexpr OperatorRow kContribAttentionRows[] = {
    kMicrosoft.attention("Attention", 1, infer_merged<kAttentionInputs>, work_merged<kAttentionInputs>,
                         "merged projection of queries, keys and values, then attention"),
    kMicrosoft.attention("QAttention", 1, infer_merged<kQuantizedInputs>, work_merged<kQuantizedInputs>,
                         "Attention with an 8-bit projection"),
    kMicrosoft.attention("DecoderMaskedSelfAttention", 1, infer_merged<kMaskedInputs>,
                         work_merged<kMaskedInputs>, "Attention for one new token against a cache"),
    kMicrosoft.attention("PackedAttention", 1, infer_packed, work_packed,
                         "Attention over sequences without their padding"),
    kMicrosoft.attention("PackedMultiHeadAttention", 1, infer_packed_multi_head, work_packed_multi_head,
                         "attention over sequences without their padding"),
    kMicrosoft.attention("MultiHeadAttention", 1, infer_multi_head<kMultiHead>, work_multi_head<kMultiHead>,
                         "attention over projected queries, keys and values"),
    kMicrosoft.attention("DecoderMaskedMultiHeadAttention", 1, infer_multi_head<kDecoderMultiHead>,
                         work_multi_head<kDecoderMultiHead>, "attention of one new token against a cache"),
    kMicrosoft.attention(
        "GroupQueryAttention", 1, infer_grouped<kGrouped>, work_grouped<kGrouped>,
        "causal attention with shared keys and values, cache, rotary positions and sliding window"),
    kMicrosoft.attention(
        "SparseAttention", 1, infer_grouped<kSparse>, work_grouped<kSparse>,
        "block-sparse causal attention; the pattern is data, so its upper bound, dense, is counted"),
    kMicrosoft.attention("LongformerAttention", 1, infer_same, work_longformer,
                         "projection and attention in a window"),
    kMicrosoft.attention("PagedAttention", 1, infer_paged, work_paged, "attention over a cache in blocks"),
};

constinit const std::span<const OperatorRow> contrib_attention_rows = kContribAttentionRows;

} // namespace archsim
