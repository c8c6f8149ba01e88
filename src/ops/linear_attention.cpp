// Recurrences with a matrix as state: linear attention with or without gates and delta rule, which is Mamba-2
// too (Dao and Gu, arXiv:2405.21060: C is the query, B the key, x the value), and the causal convolution
// before them. ONNX Runtime has both as operators of com.microsoft, ai.onnx from opset 27.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

// Tokens of a block that are multiplied at once when a prompt is processed (flash-linear-attention's
// default).
constexpr double kBlock = 64;

struct LinearSizes {
    std::int64_t batch = 1, tokens = 1, key_heads = 1, heads = 1, key_size = 1, value_size = 1;
};

/// query, key, value, past_state, decay, beta; heads lie side by side in the last axis.
LinearSizes linear_sizes(const NodeContext& c) {
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

void infer_linear(NodeContext& c) {
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
void work_selective_scan(NodeContext& c, const LinearSizes& s) {
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
void work_linear_attention(NodeContext& c) {
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
std::size_t channel_axis(const NodeContext& c) {
    return c.integer("channels_last", 0) != 0 ? 2 : 1;
}

/// input, weight [channels, 1, kernel], bias, past_state [batch, channels, kernel - 1]
void infer_causal_convolution(NodeContext& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3)
        malformed("input and weight need rank 3");
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, c.has_input(3) ? c.type(3) : c.type(0),
                 {c.dim(0, 0), c.dim(0, static_cast<std::int64_t>(channel_axis(c))),
                  std::max<std::int64_t>(0, c.dim(1, 2) - 1)});
}

void work_causal_convolution(NodeContext& c) {
    const double n = c.elements(0), taps = static_cast<double>(c.dim(1, 2));
    c.work().vector_ops = n * (2 * taps + (c.has_input(2) ? 1 : 0));
    if (c.text("activation", "none") != "none") { // x sigmoid(x)
        c.work().vector_ops += 2 * n;
        c.work().special_ops += 2 * n;
    }
    mark_learned(c, {1, 2});
    c.mark_kv_cache_input(3);
    c.mark_kv_cache_output(1);
}

constexpr OperatorRow kLinearAttention = kOnnx.attention(
    "LinearAttention", 27, infer_linear, work_linear_attention,
    "recurrence with a matrix per head as state: linear, gated and delta-rule attention, Mamba-2");
constexpr OperatorRow kCausalConvolution =
    kOnnx.opaque("CausalConvWithState", 27, infer_causal_convolution, work_causal_convolution,
                 "depthwise convolution along the tokens that carries its last inputs over to the next call");
constexpr OperatorRow kLinearRows[] = {kLinearAttention, of_microsoft(kLinearAttention), kCausalConvolution,
                                       of_microsoft(kCausalConvolution)};

} // namespace

constinit const std::span<const OperatorRow> linear_attention_rows = kLinearRows;

} // namespace archsim
