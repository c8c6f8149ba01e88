// Recurrent layers. The input projection of all steps is one matrix product; the recurrence is one small
// product per step, each waiting for the one before (Appleyard et al., arXiv:1604.01946).

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

struct Recurrence {
    std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
    bool batch_first = false;
};

/// `hidden`: the axis of the recurrence weights that is one unit wide.
static Recurrence sizes_of(const NodeContext& c, bool batch_first, std::int64_t hidden) {
    return {c.dim(0, batch_first ? 1 : 0),
            c.dim(0, batch_first ? 0 : 1),
            c.dim(0, 2),
            c.dim(2, hidden),
            c.dim(1, 0),
            batch_first};
}

static Recurrence recurrence_of(const NodeContext& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3)
        malformed("input, weights and recurrence weights need rank 3");
    return sizes_of(c, c.integer("layout", 0) != 0, 2);
}

/// Weights are [directions, inputs, gates x hidden] in 8 bits, inputs quantised on the fly.
static Recurrence dynamic_recurrence(const NodeContext& c) {
    return sizes_of(c, false, 1);
}

template <Recurrence (*Sizes)(const NodeContext&)>
static void infer_recurrent(NodeContext& c) {
    const Recurrence r = Sizes(c);
    if (r.batch_first)
        c.set_output(0, c.type(0), {r.batch, r.steps, r.directions, r.hidden});
    else
        c.set_output(0, c.type(0), {r.steps, r.directions, r.batch, r.hidden});
    const Shape last =
        r.batch_first ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
    c.set_output(1, c.type(0), last);
    c.set_output(2, c.type(0), last);
}

/// Gates per hidden unit, and what one unit takes per step outside the products.
static void count(NodeContext& c, double gates, ElementCost per_unit, bool peepholes) {
    const Recurrence r = recurrence_of(c);
    const auto directions = static_cast<double>(r.directions), steps = static_cast<double>(r.steps);
    const auto batch = static_cast<double>(r.batch), hidden = static_cast<double>(r.hidden);
    recurrent_work(c, {directions, steps, batch, static_cast<double>(r.inputs), hidden, gates * hidden,
                       c.is_constant(1), c.is_constant(2)});
    OperatorWork& work = c.work();
    const double units = directions * steps * batch * hidden;
    // Summing both products, and the two biases where they are given.
    const double sums = gates * (c.has_input(3) ? 3 : 1);
    work.vector_ops = units * (per_unit.vector + sums + (peepholes ? 6 : 0));
    work.special_ops = units * per_unit.special;
    mark_learned(c, {1u, 2u, 3u});
    if (peepholes)
        c.mark_learned(7);
}

/// Three sigmoids (2 special, 2 vector each), two tanh, and c = f c + i g, h = o tanh(c).
static void work_lstm(NodeContext& c) {
    count(c, 4, {10, 8}, c.has_input(7));
}

/// Two sigmoids, one tanh, and h = (1 - z) n + z h with the reset product.
static void work_gru(NodeContext& c) {
    count(c, 3, {9, 5}, false);
}

static void work_rnn(NodeContext& c) {
    count(c, 1, {0, 1}, false);
}

static void work_dynamic_lstm(NodeContext& c) {
    const Recurrence r = dynamic_recurrence(c);
    recurrent_work(c, {static_cast<double>(r.directions), static_cast<double>(r.steps),
                       static_cast<double>(r.batch), static_cast<double>(r.inputs),
                       static_cast<double>(r.hidden), 4 * static_cast<double>(r.hidden)});
    const double units = c.output(0).elements();
    c.work().vector_ops = 26 * units + 6 * c.elements(0);
    c.work().special_ops = 8 * units;
    run_int8(c);
    mark_learned(c, {1u, 2u, 3u});
    mark_learned_from(c, 8, false);
}

// Recurrences with a matrix as state: linear attention with or without gates and delta rule, which is Mamba-2
// too (Dao and Gu, arXiv:2405.21060: C is the query, B the key, x the value), and the causal convolution
// before them. ONNX Runtime has both as operators of com.microsoft, ai.onnx from opset 27.

// Tokens of a block that are multiplied at once when a prompt is processed (flash-linear-attention's
// default).
constexpr double kBlock = 64;

struct LinearSizes {
    std::int64_t batch = 1, tokens = 1, key_heads = 1, heads = 1, key_size = 1, value_size = 1;
};

/// query, key, value, past_state, decay, beta; heads lie side by side in the last axis.
static LinearSizes linear_sizes(const NodeContext& c) {
    LinearSizes s;
    s.key_heads = c.integer("q_num_heads", 0);
    s.heads = c.integer("kv_num_heads", 0);
    if (s.key_heads < 1 || s.heads < 1)
        malformed("q_num_heads and kv_num_heads must be positive");
    s.batch = c.dim(0, 0);
    s.tokens = c.dim(0, 1);
    s.key_size = c.dim(0, 2) / s.key_heads;
    s.value_size = c.dim(2, 2) / s.heads;
    return s;
}

static void infer_linear(NodeContext& c) {
    const LinearSizes s = linear_sizes(c);
    const std::int64_t heads = std::max(s.heads, s.key_heads);
    c.set_output(0, c.type(0), {s.batch, s.tokens, heads * s.value_size});
    c.set_output(1, c.has_input(3) ? c.type(3) : c.type(0), {s.batch, s.heads, s.key_size, s.value_size});
    if (c.has_input(3))
        c.output(1).storage_bits = c.input(3).storage_bits;
}

/// Mamba's scan (Gu and Dao, arXiv:2312.00752, algorithm 2): per token, channel and element of its state an
/// exponential, and product, decay, sum and read-out of the new value. A decay of its own per element leaves
/// no matrix products.
static void work_selective_scan(NodeContext& c, const LinearSizes& s) {
    const auto heads = static_cast<double>(s.heads);
    const double elements = static_cast<double>(s.batch) * static_cast<double>(s.tokens) * heads *
                            static_cast<double>(s.key_size) * static_cast<double>(s.value_size);
    // As attention of every channel to the elements of its state.
    c.work().attention = AttentionShape{static_cast<double>(s.batch),
                                        heads,
                                        heads,
                                        static_cast<double>(s.tokens),
                                        static_cast<double>(s.key_size),
                                        1,
                                        static_cast<double>(s.value_size),
                                        true};
    constexpr double kOperations = 5; // dt A, decay x state, dt B x, their sum, times C
    c.work().vector_ops = kOperations * elements;
    c.work().special_ops = elements;
    c.mark_learned(5); // a row of decays per channel
    c.mark_kv_cache_input(3);
    c.mark_kv_cache_output(1);
}

/// Per token and head: the state takes key x value products twice (update and query; a delta rule reads it
/// once more), and within a block of a prompt half the tokens are attended to directly. Counted as attention
/// over as many keys as give those products, which a head of 128 x 128 reaches at 128 keys.
static void work_linear_attention(NodeContext& c) {
    const LinearSizes s = linear_sizes(c);
    if (c.text("update_rule", "gated") == "selective")
        return work_selective_scan(c, s);
    const bool delta = c.text("update_rule", "gated").find("delta") != std::string_view::npos;
    const auto tokens = static_cast<double>(s.tokens);
    const auto key = static_cast<double>(s.key_size), value = static_cast<double>(s.value_size);
    const double within = tokens > 1 ? std::min(tokens, kBlock) / 2 : 0;
    const double of_state = (delta ? 3 : 2) * key * value / (key + value);
    // The triangular system of a delta rule costs as much again as the scores within the block.
    const double keys = of_state + (delta ? 2 : 1) * within;
    AttentionSizes sizes;
    sizes.batch = static_cast<double>(s.batch);
    sizes.heads = sizes.kv_heads = static_cast<double>(std::max(s.heads, s.key_heads));
    sizes.query_length = tokens;
    sizes.kv_length = keys;
    sizes.head_size = key;
    sizes.value_size = value;
    attention_work(c, sizes);
    // No softmax: per element of the state a decay, per score within a block a decay too.
    const double heads = sizes.batch * sizes.heads, blocks = std::max(1.0, tokens / kBlock);
    c.work().vector_ops = heads * (blocks * key * value + tokens * within);
    c.work().special_ops = heads * tokens * (1 + within);
    // Each block starts from the state that the one before leaves, which takes several kernels to get at.
    if (delta && tokens > kBlock)
        c.work().serial_steps = std::ceil(tokens / kBlock);
    c.mark_kv_cache_input(3);
    c.mark_kv_cache_output(1);
}

/// Channels first as ONNX has it, or last where `channels_last` says that the transposes are left out.
static std::size_t channel_axis(const NodeContext& c) {
    return c.integer("channels_last", 0) != 0 ? 2 : 1;
}

/// input, weight [channels, 1, kernel], bias, past_state [batch, channels, kernel - 1]
static void infer_causal_convolution(NodeContext& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3)
        malformed("input and weight need rank 3");
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, c.has_input(3) ? c.type(3) : c.type(0),
                 {c.dim(0, 0), c.dim(0, static_cast<std::int64_t>(channel_axis(c))),
                  std::max<std::int64_t>(0, c.dim(1, 2) - 1)});
}

static void work_causal_convolution(NodeContext& c) {
    const double n = c.elements(0), taps = extent(c, 1, 2);
    c.work().vector_ops = n * (2 * taps + (c.has_input(2) ? 1 : 0));
    if (c.text("activation", "none") != "none") { // x sigmoid(x)
        c.work().vector_ops += 2 * n;
        c.work().special_ops += 2 * n;
    }
    mark_learned(c, {1, 2});
    c.mark_kv_cache_input(3);
    c.mark_kv_cache_output(1);
}

constexpr OperatorRow kRecurrentRows[] = {
    kOnnx.recurrent("LSTM", 1, infer_recurrent<recurrence_of>, work_lstm,
                    "long short-term memory: 4 gates; one input projection, then dependent steps"),
    kOnnx.recurrent("GRU", 1, infer_recurrent<recurrence_of>, work_gru,
                    "gated recurrent unit: 3 gates; one input projection, then dependent steps"),
    kOnnx.recurrent("RNN", 1, infer_recurrent<recurrence_of>, work_rnn,
                    "plain recurrence: one input projection, then dependent steps"),
    kMicrosoft.recurrent("DynamicQuantizeLSTM", 1, infer_recurrent<dynamic_recurrence>, work_dynamic_lstm,
                         "LSTM with 8-bit weights, inputs quantised on the fly"),
    kOnnx.attention(
        "LinearAttention", 27, infer_linear, work_linear_attention,
        "recurrence with a matrix per head as state: linear, gated and delta-rule attention, Mamba-2"),
    kOnnx.opaque("CausalConvWithState", 27, infer_causal_convolution, work_causal_convolution,
                 "depthwise convolution along the tokens that carries its last inputs over to the next call"),
};

constinit const std::span<const OperatorRow> recurrent_rows = kRecurrentRows;

} // namespace archsim
