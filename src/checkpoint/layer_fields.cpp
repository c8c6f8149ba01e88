// Attention, latent attention, linear attention and Mamba: the fields that state their sizes.

#include "checkpoint/config_parts.hpp"
#include "core/parse_number.hpp"

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

/// RWKV-7 as flash-linear-attention states it (models/rwkv7): ranks of the narrow widths.
static TokenMixer read_token_shift(Fields& f, std::int64_t hidden) {
    TokenMixer m{.kind = MixerKind::token_shift};
    constexpr double kFloat = 32;
    m.head_size = f.count({"head_dim", "head_size"}, 64, 1);
    m.heads = m.kv_heads = hidden / m.head_size;
    const auto values = f.counts({"value_dim"});
    if (m.heads * m.head_size != hidden || std::ranges::any_of(values, [&](auto v) { return v != hidden; }))
        f.refuse("head_dim", "heads and values of another width than the layers are not known");
    m.decay_rank = f.count({"decay_low_rank_dim"}, 0);
    m.rate_rank = f.count({"a_low_rank_dim"}, 0);
    m.first_rank = f.count({"v_low_rank_dim"}, 0);
    m.gate_rank = f.count({"gate_low_rank_dim"}, 0);
    if (std::min({m.decay_rank, m.rate_rank, m.first_rank, m.gate_rank}) < 1)
        f.refuse("decay_low_rank_dim", "the ranks of decays, rates, values and gates are not stated");
    f.skip({"num_heads", "num_attention_heads", "norm_first", "norm_bias", "hidden_ratio"});
    m.state_bits = kFloat;
    return m;
}

TokenMixer read_mixer(Fields& f, const Implied& implied, std::int64_t hidden) {
    if (implied.token_shift)
        return read_token_shift(f, hidden);
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

// MLPs, experts, and which layers have which.

/// Activations whose MLPs have no gate in any family.
static bool ungated(const std::string& activation) {
    return activation == "relu2" || activation == "relu" || activation == "gelu_new" ||
           activation == "gelu_fast" || activation == "xielu";
}

static void read_experts(Fields& f, const Implied& implied, FeedForward& e) {
    e.experts = f.count({"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                         "num_routed_experts", "moe_num_primary_experts"},
                        0);
    if (e.experts <= 1) {
        e.experts = 0;
        f.skip({"moe_intermediate_size", "num_experts_per_tok", "experts_per_token", "top_k_experts",
                "n_shared_experts", "num_shared_experts"}); // of experts that there are none of
        return;
    }
    e.active =
        f.count({"num_experts_per_tok", "experts_per_token", "top_k_experts", "num_experts_per_token",
                 "moe_topk", "moe_k", "moe_top_k", "num_selected_experts", "moe_num_active_primary_experts"});
    if (e.active > e.experts)
        f.refuse("num_experts_per_tok", "must not exceed the number of experts");
    e.idle_experts = f.count({"zero_expert_num"}, 0);
    if (e.idle_experts > 0) // routers are trained to choose all alike (LongCat-Flash, arXiv:2509.01322)
        e.active = std::max<std::int64_t>(1, e.active * e.experts / (e.experts + e.idle_experts));
    e.expert_inner = f.count({"moe_intermediate_size", "expert_ffn_hidden_size", "expert_intermediate_size",
                              "moe_ffn_hidden_size"},
                             e.inner, 1);
    e.latent = f.count({"moe_latent_size", "routed_expert_hidden_size"}, 0);
    const std::int64_t shared =
        f.count({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"},
                implied.one_shared_expert ? 1 : 0);
    const std::int64_t stated =
        f.count({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                 "shared_intermediate_size", "share_expert_dim"},
                0);
    e.shared_inner = stated > 0 ? stated * std::max<std::int64_t>(shared, 1) : shared * e.expert_inner;
    e.shared_gate = implied.shared_gate && e.shared_inner > 0;
    e.expert_bias = implied.expert_bias;
    e.router_bias = implied.expert_bias;
    const std::string router =
        f.text({"router_dtype", "moe_router_dtype"}, implied.float_router ? "fp32" : "");
    e.float_router = router == "fp32" || router == "float32";
}

static std::int64_t dense_width(Fields& f) {
    const double ratio = f.number({"expansion_ratio"}, 4);
    const std::int64_t hidden = f.count({"hidden_size", "n_embd", "d_model"});
    const std::int64_t stated = f.count(
        {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "ff_intermediate_size",
         "block_ff_dim"},
        static_cast<std::int64_t>(std::clamp(ratio * static_cast<double>(hidden), 0.0, kLargestCount)), 0);
    if (f.has({"intermediate_size"})) // what it was reckoned from
        f.skip({"mlp_expansion_factor", "mlp_ratio", "ffn_dim_multiplier", "mamba_use_mlp"});
    if (!f.flag({"block_auto_adjust_ff_dim"})) {
        f.skip({"block_ffn_dim_multiplier", "block_multiple_of"}); // of a width that is not adjusted
        return stated;
    }
    // Two thirds, times a multiplier, rounded up: what Llama does with the width of an MLP without a gate.
    const auto wanted = static_cast<std::int64_t>(std::clamp(
        f.number({"block_ffn_dim_multiplier"}, 1) * static_cast<double>(2 * stated / 3), 0.0, kLargestCount));
    const std::int64_t step = f.count({"block_multiple_of"}, 256, 1);
    return (wanted + step - 1) / step * step;
}

/// Numbers of a text with commas between them (Step-3); `otherwise` where there is none.
static std::vector<std::int64_t> numbers_in(Fields& f, const char* key, std::vector<std::int64_t> otherwise) {
    const auto* stated = f.find({key});
    if (!stated || !stated->is_string())
        return stated ? f.counts({key}) : otherwise;
    std::string_view text = stated->get_ref<const std::string&>();
    std::vector<std::int64_t> numbers;
    while (!text.empty()) {
        const auto number = take_number<std::int64_t>(text);
        if (!number || (!text.empty() && text.front() != ','))
            f.refuse(key, "must be whole numbers with commas between them");
        numbers.push_back(*number);
        text.remove_prefix(std::min<std::size_t>(1, text.size()));
    }
    return numbers;
}

FeedForwards read_feed_forwards(Fields& f, const Implied& implied) {
    FeedForward plain;
    plain.activation = f.text(
        {"hidden_act", "hidden_activation", "mlp_hidden_act", "activation_function", "ffn_act_fn"}, "silu");
    plain.gated = implied.always_gated || (implied.gated && !ungated(plain.activation));
    plain.sub_norm = implied.sub_norms;
    plain.shifted = implied.token_shift;
    plain.bias = f.flag({"mlp_bias", "add_ffn_bias", "use_bias"}, implied.mlp_bias);
    const bool beside = f.flag({"enable_moe_block", "residual_moe"});
    const bool has_blocks = f.has({"block_configs"});
    plain.inner = has_blocks || states_alone(f) ? 0 : dense_width(f);
    if (implied.halved_mlp)
        plain.inner /= 2;
    FeedForwards both{plain, plain};
    read_experts(f, implied, both.experts);
    if (!beside && both.experts.experts > 0)
        both.experts.inner = 0;
    if (both.experts.experts == 0) // what is left of a layer whose experts are none (Granite 4)
        if (const std::int64_t left = f.count({"shared_intermediate_size"}, 0); left > 0)
            both.dense.inner = both.experts.inner = left;
    if (f.flag({"parallel_attn_mlp_res"}) && both.experts.experts > 0)
        both.experts.inner = f.count({"hidden_size"}); // Arctic: a dense MLP as wide as the model
    f.skip({"use_residual"});
    // Llama 4 states the width of its dense layers apart from that of its experts.
    both.dense.inner = f.count({"intermediate_size_mlp", "dense_intermediate_size"}, both.dense.inner);
    return both;
}

std::vector<bool> read_expert_layers(Fields& f, std::size_t layers) {
    std::vector<bool> sparse(layers, true);
    const auto first = static_cast<std::size_t>(
        f.count({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}, 0));
    const std::int64_t step = f.count({"decoder_sparse_step", "interleave_moe_layer_step",
                                       "moe_layer_interval", "moe_every_n_layers", "moe_layer_frequency"},
                                      1, 0);
    const auto period = static_cast<std::size_t>(f.count({"expert_layer_period"}, 1, 1)),
               offset = static_cast<std::size_t>(f.count({"expert_layer_offset"}, 0));
    const auto frequency = f.find({"moe_layer_freq", "is_moe_layer"}), last = f.find({"moe_layer_end_index"});
    const std::size_t end = last && last->is_number_unsigned() ? last->get<std::size_t>() : layers;
    for (std::size_t i = 0; i < layers; ++i) {
        sparse[i] = i >= first && i <= end && (step <= 1 || (i + 1) % static_cast<std::size_t>(step) == 0) &&
                    i % period == offset % period;
        if (frequency && frequency->is_array() && i < frequency->size())
            sparse[i] = (*frequency)[i].is_boolean()
                            ? (*frequency)[i].get<bool>()
                            : (*frequency)[i].is_number() && (*frequency)[i].get<double>() != 0;
        else if (frequency && frequency->is_number_integer() && frequency->get<std::int64_t>() > 1)
            sparse[i] = i >= first && i % frequency->get<std::size_t>() == 0;
    }
    for (const std::int64_t dense : f.counts({"mlp_only_layers"}))
        if (dense >= 0 && static_cast<std::size_t>(dense) < layers)
            sparse[static_cast<std::size_t>(dense)] = false;
    const auto types = f.texts({"mlp_layer_types"});
    for (std::size_t i = 0; i < std::min(types.size(), layers); ++i)
        sparse[i] = types[i] != "dense";
    if (const auto listed = numbers_in(f, "moe_layers_enum", f.counts({"moe_layers"})); !listed.empty()) {
        sparse.assign(layers, false);
        for (const std::int64_t i : listed)
            if (i >= 0 && static_cast<std::size_t>(i) < layers)
                sparse[static_cast<std::size_t>(i)] = true;
    }
    return sparse;
}

} // namespace archsim::checkpoint
