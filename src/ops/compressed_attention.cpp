// Attention over a window of positions and over compressed ones (DeepSeek-V4, section 2.3; transformers,
// models/deepseek_v4): one vector per position, key and value at once and shared by all heads, of which the
// last `window` are kept, and beside them one vector for every `ratio` positions. A sparse index may choose
// `keeps` of these for each query.
//
// Worked: 64 heads of 512, window 128, ratio 4, 512 kept, one token over 100,000: 128 + 512 of 25,000
// vectors, 64 x 640 x 1024 = 41.9 M multiply-accumulates.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

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
Compressed compressed_of(const NodeContext& c) {
    Compressed a;
    const auto attribute = [&](std::string_view key) {
        return static_cast<double>(std::max<std::int64_t>(0, c.integer(key, 0)));
    };
    a.heads = attribute("num_heads");
    a.window = attribute("window");
    a.ratio = c.has_input(kCompressed) ? attribute("ratio") : 0;
    a.keeps = attribute("keeps");
    if (a.heads < 1 || a.window < 1 || (c.has_input(kCompressed) && a.ratio < 1))
        malformed("num_heads, window and ratio must be positive");
    a.batch = static_cast<double>(c.dim(1, 0));
    a.fresh = static_cast<double>(c.dim(1, 1));
    a.size = static_cast<double>(c.dim(1, 2));
    a.past = static_cast<double>(c.dim(kWindow, 2));
    if (a.ratio > 0)
        a.past = std::max(a.past, static_cast<double>(c.dim(kCompressed, 2)) * a.ratio);
    return a;
}

std::int64_t positions_of(double size) {
    return static_cast<std::int64_t>(size);
}

void infer_compressed(NodeContext& c) {
    const Compressed a = compressed_of(c);
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(
        1, c.type(kWindow),
        {positions_of(a.batch), 1, positions_of(std::min(a.past + a.fresh, a.window)), positions_of(a.size)});
    if (a.ratio > 0)
        c.set_output(
            2, c.type(kCompressed),
            {positions_of(a.batch), 1, positions_of(a.entries(a.past + a.fresh)), positions_of(a.size)});
}

void work_compressed(NodeContext& c) {
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
        const double kept = static_cast<double>(c.dim(input, 2));
        c.work().partial_reads.emplace_back(static_cast<std::uint16_t>(input),
                                            a.batch * std::min(kept, most) * a.size);
    };
    read(kWindow, a.window);
    c.mark_kv_cache_output(1);
    c.work().partial_writes.emplace_back(std::uint16_t{1}, a.batch * std::min(a.fresh, a.window) * a.size);
    if (a.ratio <= 0)
        return;
    const double all = static_cast<double>(c.dim(kCompressed, 2));
    read(kCompressed, a.keeps > 0 ? a.keeps * a.fresh : all);
    c.mark_kv_cache_output(2);
    c.work().partial_writes.emplace_back(std::uint16_t{2}, a.batch * a.fresh / a.ratio * a.size);
}

/// vectors and their scores [batch, tokens, width]: a softmax over each group of positions weighs them.
void infer_compression(NodeContext& c) {
    c.set_output(0, c.type(0), {c.dim(0, 0), c.dim(0, 1), std::max<std::int64_t>(1, c.integer("size", 1))});
}

void work_compression(NodeContext& c) {
    constexpr double kOperations = 4; // the bias, maximum and sum of the scores, the weighted sum
    c.work().vector_ops = kOperations * c.elements(0);
    c.work().special_ops = c.elements(0);
    c.mark_learned(2);
}

constexpr OperatorRow kCompressedRows[] = {
    row("CompressedAttention", kArchsimDomain, 1, infer_compressed, work_compressed, nullptr,
        OpKind::attention, FusionClass::contraction, {},
        "attention over the last positions and over one vector for every few earlier ones"),
    row("CompressPositions", kArchsimDomain, 1, infer_compression, work_compression, nullptr, OpKind::softmax,
        FusionClass::opaque, {}, "weighs the positions of a group by a softmax and keeps their sum"),
};

} // namespace

std::span<const OperatorRow> compressed_attention_rows() {
    return kCompressedRows;
}

} // namespace archsim
