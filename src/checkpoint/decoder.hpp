#pragma once
// A decoder as the reader understood it: layer by layer what mixes tokens and what follows. Every reader
// (config.json, GGUF) fills this in; one builder makes the graph of it.

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/weight_formats.hpp"

namespace archsim::checkpoint {

enum class MixerKind : std::uint8_t {
    none,
    attention,    ///< queries share keys and values in groups
    latent,       ///< multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1)
    gated_delta,  ///< linear attention with a gated delta rule (Yang et al., arXiv:2412.06464)
    mamba,        ///< Mamba-2 (Dao and Gu, arXiv:2405.21060)
    selective,    ///< Mamba, a state per channel (Gu and Dao, arXiv:2312.00752)
    lightning,    ///< linear attention with a fixed decay per head (MiniMax-01, arXiv:2501.08313)
    convolution,  ///< gated short convolution (LFM2)
    gated_linear, ///< a gated recurrence of every channel (RG-LRU, arXiv:2402.19427, section 2.4)
    token_shift,  ///< a delta rule with rates per channel over mixed neighbours (RWKV-7, arXiv:2503.14456)
    compressed,   ///< a window, and one vector for every few positions before it (DeepSeek-V4)
    linear,       ///< one matrix instead of attention
};

/// The positions before it that a layer sees.
struct LayerWindow {
    std::int64_t positions = 0; ///< 0: all
    bool chunked = false;       ///< it does not slide
};

enum class HeadNorm : std::uint8_t { none, per_head, whole };

/// The mixer of a layer's tokens; sizes that the kind does not have stay 0.
struct TokenMixer {
    MixerKind kind = MixerKind::none;
    std::int64_t heads = 0, kv_heads = 0, head_size = 0;
    std::int64_t window = 0;           ///< positions that a query sees and the cache keeps; 0: all
    bool chunked = false;              ///< the window does not slide: a query sees its own chunk of `window`
    bool bias = false;                 ///< of the query, key and value projections
    bool output_bias = false;          ///< of the output projection
    bool sinks = false;                ///< one learned score per head that takes part in the softmax
    bool output_gate = false;          ///< the query projection has a second half that gates the result
    bool values_are_keys = false;      ///< one projection gives both
    std::int64_t shares_cache_of = -1; ///< earlier layer whose keys and values this one reads; -1: own
    HeadNorm norm = HeadNorm::none;    ///< of queries and keys
    bool norm_weights = true;
    // latent: ranks of the compressed queries (0: not compressed) and of keys with values, head parts without
    // and with rotation; attention: `value_size` where values are not as wide as keys
    std::int64_t query_rank = 0, kv_rank = 0, plain_size = 0, rotary_size = 0, value_size = 0;
    bool expanded = false; ///< latent: the cache keeps keys and values of every head, not the vector
    // compressed: positions that one vector stands for (0: the window alone), and the output projection in
    // groups of heads that are narrowed to this width each; attention too: `query_rank` of narrow queries
    std::int64_t ratio = 0, output_groups = 0, output_rank = 0;
    // a sparse index in front of attention: heads (0: that of an earlier layer), their size, positions (or
    // vectors) that attention then reads
    std::int64_t index_heads = 0, index_size = 0, index_keeps = 0;
    // gated_delta: `heads` value heads of `value_size`, `kv_heads` key heads of `head_size`;
    // mamba: `heads` of `head_size`, `kv_heads` groups that share B and C of `state_size`
    // selective: `heads` channels, `time_rank` between them and their time steps
    std::int64_t state_size = 0, kernel = 0, time_rank = 0;
    std::int64_t gate_rank =
        0; ///< gated_delta: gate and a decay per channel go through this width; 0: neither
    bool channel_decays = false; ///< gated_delta: a decay per channel of the keys, whatever the gate's width
    std::int64_t decay_rank = 0, rate_rank = 0,
                 first_rank = 0; ///< token_shift: of decays, rates, first values
    bool kernel_bias = false;
    bool sub_norm = false; ///< the result is normalised in front of the output projection
    double state_bits = 0; ///< of the recurrent state; 0: as activations
};

struct FeedForward {
    std::int64_t inner = 0; ///< of a dense MLP (beside the experts where there are some); 0: none
    bool gated = true;
    bool bias = false;
    std::string activation = "silu";
    std::int64_t experts = 0, active = 0, expert_inner = 0;
    std::int64_t shared_inner = 0; ///< experts that every token takes, side by side
    bool shared_gate = false, expert_bias = false, router_bias = false;
    bool float_router = false;     ///< the router multiplies in fp32, whatever the others take
    bool linear = false;           ///< one matrix instead of an MLP
    std::int64_t idle_experts = 0; ///< that the router may choose and that compute nothing
    bool sub_norm = false;         ///< the inner activations are normalised in front of the last matrix
    bool shifted = false;          ///< its input is mixed with that of the token before
    std::int64_t latent = 0; ///< width that experts work in, between two projections; 0: the hidden size
};

struct DecoderLayer {
    TokenMixer mixer;
    std::optional<TokenMixer> beside; ///< a second mixer of the same input, whose result is added
    FeedForward feed_forward;
    bool one_norm = false;    ///< attention and MLP side by side behind one norm
    bool norms_after = false; ///< the result of each half is normalised before it joins the residual stream
};

/// Weights that lie in memory and take no part in generating text.
struct ResidentWeight {
    std::string name;
    std::vector<std::int64_t> shape;
    double bits = 0; ///< per element; 0: as the type of the checkpoint
};

/// The inputs of layers beside the residual stream (Gemma 3n); sizes of parts that are not there stay 0.
struct LayerInputs {
    std::int64_t width = 0, vocabulary = 0; ///< a row of this width per layer and token of this vocabulary
    std::int64_t rank = 0;                  ///< of a narrow path beside attention (LAuReL, arXiv:2411.07501)
    std::int64_t streams = 0;               ///< residual streams side by side (AltUp, arXiv:2301.13310)
};

/// A file's statements of its weights as a whole.
struct StatedWeights {
    double parameters = 0; ///< sum over its tensors; 0: not stated
    std::string unread;    ///< the largest tensor that no part of the decoder is read from
};

struct Decoder {
    std::string name;
    CheckpointFacts facts;
    std::vector<DecoderLayer> layers;
    bool tied = false;
    bool head = true;        ///< false: the last hidden states are the result (an encoder of prompts)
    bool generates = true;   ///< false: one pass over its input, which keeps no cache
    std::int64_t scores = 0; ///< numbers that a head of its own gives for the last token; 0: it has none
    std::int64_t passes =
        1; ///< times that the layers run one after the other, each time with caches of their own
    bool head_bias = false;
    bool layer_norm = false;           ///< norms of the residual stream take the mean off and add a bias
    bool table_norm = false;           ///< and one follows the embedding
    DataType type = DataType::float16; ///< of activations and of weights that no scheme narrows
    WeightFormats formats;
    std::optional<Precision> weights;  ///< what most of them run as where a scheme narrows them
    std::optional<Precision> products; ///< what both operands of most products are quantised to, if both are
    std::vector<ResidentWeight> resident;
    double stored_scale = 1; ///< of all weights' bytes, where files hold others than are counted
    LayerInputs layer_inputs;
    std::optional<Precision> cache; ///< of keys and values, where the checkpoint says so
    StatedWeights stated;
    std::vector<Finding> findings;
};

/// The graph of a decoder.
Graph build_graph(const Decoder& decoder);

/// Heads of the first layer with attention, as the cache keeps them.
void fill_attention_facts(Decoder& decoder);

/// Elements of a tensor whose sizes are all numbers.
double elements(const Tensor& tensor);

/// Elements of all stored tensors of floating-point formats; the integers of shapes do not count.
double floating_elements(const Graph& graph);

/// Elements of one layer's weights; what multi-token heads repeat.
double count_parameters(const Decoder& decoder, const DecoderLayer& layer);

} // namespace archsim::checkpoint
