// Attention, latent attention, linear attention and Mamba: the fields that state their sizes.

#include "checkpoint/config_parts.hpp"

#include <algorithm>

namespace archsim::checkpoint {

static void read_latent(Fields& f, TokenMixer& m, std::int64_t hidden) {
    m.kind = MixerKind::latent;
    m.query_rank = f.count({"q_lora_rank"}, 0);
    m.kv_rank = f.count({"kv_lora_rank"});
    m.plain_size = f.count({"qk_nope_head_dim"});
    m.rotary_size = f.count({"qk_rope_head_dim"}, 0);
    // MiniCPM3 leaves it to its class: the width over the heads.
    m.value_size = f.count({"v_head_dim"}, std::max<std::int64_t>(1, hidden / m.heads), 1);
    m.index_heads = f.count({"index_n_heads"}, 0);
    m.index_size = f.count({"index_head_dim"}, 0);
    m.index_keeps = f.count({"index_topk"}, 0);
    f.skip({"qk_head_dim", "head_dim"});
    m.norm = HeadNorm::none;
}

/// DeepSeek-V4: which layers compress how many positions is said layer by layer.
static void read_compressed(Fields& f, TokenMixer& m) {
    m.kind = MixerKind::compressed;
    m.sinks = true;
    m.query_rank = f.count({"q_lora_rank"});
    m.output_rank = f.count({"o_lora_rank"});
    m.output_groups = f.count({"o_groups"});
    if (m.heads % m.output_groups != 0)
        f.refuse("o_groups", "must divide num_attention_heads");
    m.window = f.count({"sliding_window"});
    m.index_heads = f.count({"index_n_heads"});
    m.index_size = f.count({"index_head_dim"});
    m.index_keeps = f.count({"index_topk"});
    // Parts of a head, and layers whose experts follow from the token: tables of whole numbers.
    f.skip({"qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "num_hash_layers"});
    m.norm = HeadNorm::none;
}

/// MiniMax-M3: an index with one key per position chooses blocks of positions, beside the last ones.
static void read_blocks(Fields& f, TokenMixer& m) {
    Fields s = f.part({"sparse_attention_config"});
    if (s.empty() || !s.flag({"use_sparse_attention"}, true))
        return;
    m.index_heads = s.count({"sparse_num_index_heads"});
    m.index_size = s.count({"sparse_index_dim"});
    m.index_keeps = s.count({"sparse_block_size"}) *
                    (s.count({"sparse_topk_blocks"}) + s.count({"sparse_init_block"}, 0) +
                     s.count({"sparse_local_block"}, 0));
}

bool states_alone(Fields& f) {
    return f.has({"state_size"}) && !f.has({"num_attention_heads", "n_head", "n_heads"});
}

TokenMixer read_mixer(Fields& f, const Implied& implied, std::int64_t hidden) {
    TokenMixer m;
    if (states_alone(f))
        return m;
    m.kind = MixerKind::attention;
    m.heads = f.count({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    const bool one = f.flag({"multi_query"}) && !f.has({"num_kv_heads", "num_key_value_heads"});
    m.kv_heads = f.count({"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads",
                          "multi_query_group_num", "num_query_groups", "num_attention_groups"},
                         one ? 1 : m.heads, 1);
    if (m.heads % m.kv_heads != 0 && !f.has({"num_attention_heads_of_layers"}))
        f.refuse("num_key_value_heads", "must divide num_attention_heads");
    m.head_size = f.count({"head_dim", "attention_head_dim", "kv_channels"},
                          std::max<std::int64_t>(1, hidden / m.heads), 1);
    m.bias =
        f.flag({"attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "use_bias"}, implied.qkv_bias);
    // attention_bias speaks of all four projections in Llama's configuration and those derived from it.
    m.output_bias = f.flag({"attention_out_bias"}, implied.output_bias || f.flag({"use_bias"}) ||
                                                       (f.flag({"attention_bias"}) && !implied.qkv_bias));
    m.sinks = implied.sinks || f.flag({"attention_sink", "add_full_attention_sink_bias"});
    m.output_gate = f.flag({"attn_output_gate"}, implied.output_gate);
    if (const auto gates = f.texts({"gating_types"});
        !gates.empty()) // Laguna: one number a head, or as queries
        m.output_gate = std::ranges::find(gates, "per_head") == gates.end();
    f.skip({"headwise_attn_output_gate"}); // one number a head
    m.norm = f.flag({"use_qk_norm", "qk_layernorm", "qk_norm", "normalize_qk_projections", "qk_ln"},
                    implied.norm != HeadNorm::none)
                 ? (implied.norm == HeadNorm::none ? HeadNorm::per_head : implied.norm)
                 : HeadNorm::none;
    m.sub_norm = implied.sub_norms;
    if (f.has({"compress_ratios", "compress_rates"})) {
        read_compressed(f, m);
    } else if (f.has({"kv_lora_rank"})) {
        read_latent(f, m, hidden);
    } else {
        f.skip({"qk_nope_head_dim", "qk_rope_head_dim"}); // parts of a head of latent attention, which is off
        m.value_size = f.count({"v_head_dim"}, 0);
        m.query_rank = f.count({"share_q_dim"}, 0);
        read_blocks(f, m);
    }
    return m;
}

/// Kimi's delta attention (arXiv:2510.26692, section 3): gate and decays through the width of one head, or at
/// once. Its state lies in fp32 (vLLM, mamba_utils.py, kda_state_dtype).
static TokenMixer read_channel_gated(Fields& l, TokenMixer m) {
    constexpr double kFloat = 32;
    m.kind = MixerKind::gated_delta;
    m.heads = m.kv_heads = l.count({"num_heads", "num_attention_heads"});
    m.head_size = m.value_size = l.count({"head_dim"});
    m.gate_rank = l.flag({"no_kda_lora"}) ? 0 : m.head_size;
    m.channel_decays = true;
    m.state_bits = kFloat;
    m.kernel = l.count({"short_conv_kernel_size"}, 4, 2);
    return m;
}

/// Mamba: a state per channel, of which there are as many as heads and none is stated.
static void read_selective(Fields& f, std::int64_t hidden, TokenMixer& m) {
    m.kind = MixerKind::selective;
    constexpr std::int64_t kTimeDivisor = 16; // time_step_rank: "auto"
    const std::int64_t inner = f.count({"mamba_expand", "expand"}, 2, 1) * hidden;
    // Layers of states and nothing else state their width like one of an MLP.
    m.heads = states_alone(f) ? f.count({"intermediate_size", "d_inner"}, inner, 1) : inner;
    m.kv_heads = m.head_size = 1;
    m.state_size = f.count({"state_size", "mamba_d_state", "d_state"}, 16, 1);
    const auto* rank = f.find({"time_step_rank", "mamba_dt_rank"});
    m.time_rank = rank && rank->is_string() ? (hidden + kTimeDivisor - 1) / kTimeDivisor
                                            : f.count({"time_step_rank", "mamba_dt_rank"},
                                                      (hidden + kTimeDivisor - 1) / kTimeDivisor, 1);
    m.kernel = f.count({"conv_kernel", "mamba_d_conv"}, 4, 2);
    m.kernel_bias = f.flag({"use_conv_bias", "mamba_conv_bias"}, true);
    m.bias = f.flag({"mamba_proj_bias", "use_bias"});
}

/// A mixer with a state instead of a cache, from the fields of its family.
TokenMixer read_recurrent_mixer(Fields& f, std::int64_t hidden) {
    TokenMixer m;
    constexpr double kFloat = 32, kHalf = 16;
    m.state_bits = f.text({"mamba_ssm_dtype", "mamba_ssm_cache_dtype"}).ends_with("32") ? kFloat : kHalf;
    if (f.has({"linear_num_value_heads"})) {
        m.kind = MixerKind::gated_delta;
        m.heads = f.count({"linear_num_value_heads"});
        m.kv_heads = f.count({"linear_num_key_heads"});
        m.head_size = f.count({"linear_key_head_dim"});
        m.value_size = f.count({"linear_value_head_dim"});
        m.kernel = f.count({"linear_conv_kernel_dim"}, 4, 2);
        return m;
    }
    if (Fields l = f.part({"linear_attn_config"}); !l.empty())
        return read_channel_gated(l, m);
    if (f.has({"lru_width"})) {
        m.kind = MixerKind::gated_linear;
        m.heads = f.count({"num_attention_heads"});
        m.head_size = f.count({"lru_width"}) / m.heads;
        m.kernel = f.count({"conv1d_width"}, 4, 2);
        m.kernel_bias = true;
        m.state_bits = kFloat;
        return m;
    }
    const bool groups = f.has({"layer_group_size"}); // Ling: of delta attention, or of linear attention
    if (groups && f.has({"short_conv_kernel_size"}))
        return read_channel_gated(f, m);
    const bool alone = states_alone(f);
    if (groups || f.has({"layernorm_linear_attention_alpha", "linear_attn_alpha_factor"})) {
        m.kind = MixerKind::lightning; // it has no sizes but those of attention
        f.skip({"block_size"});        // of positions that are computed at once
        m.heads = m.kv_heads = f.count({"num_attention_heads"});
        m.head_size = m.value_size = f.count({"head_dim"}, std::max<std::int64_t>(1, hidden / m.heads), 1);
        m.state_bits = kFloat;
        return m;
    }
    if (!f.has({"mamba_num_heads", "mamba_n_heads", "n_mamba_heads"}) && !(alone && f.has({"num_heads"}))) {
        read_selective(f, hidden, m);
        return m;
    }
    m.kind = MixerKind::mamba;
    m.norm = f.flag({"mamba_rms_norm"}, true) ? HeadNorm::whole : HeadNorm::none;
    const std::int64_t inner = f.count({"mamba_expand", "expand"}, 2, 1) * hidden;
    m.heads = f.count({"mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads"});
    m.head_size =
        f.count({"mamba_head_dim", "mamba_d_head", "mamba_headdim", alone ? "head_dim" : "mamba_head_dim"},
                std::max<std::int64_t>(1, inner / m.heads), 1);
    m.kv_heads = f.count({"n_groups", "mamba_n_groups", "mamba_ngroups"}, 1, 1);
    m.state_size = f.count({"ssm_state_size", "mamba_d_state", "state_size"});
    m.kernel = f.count({"conv_kernel", "mamba_d_conv"}, 4, 2);
    m.kernel_bias = f.flag({"use_conv_bias", "mamba_conv_bias"}, true);
    m.bias = f.flag({"mamba_proj_bias", "use_bias"});
    return m;
}

/// LFM2 (arXiv:2511.23404, section 2): a short convolution between two gates.
TokenMixer read_convolution_mixer(Fields& f, std::int64_t hidden) {
    TokenMixer m;
    m.kind = MixerKind::convolution;
    m.heads = f.count({"conv_dim"}, hidden, 1);
    m.kernel = f.count({"conv_L_cache"}, 3, 2);
    m.bias = m.kernel_bias = f.flag({"conv_bias"});
    return m;
}

} // namespace archsim::checkpoint
