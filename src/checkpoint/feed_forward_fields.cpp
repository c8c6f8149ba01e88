// MLPs, experts, and which layers have which.

#include "checkpoint/config_parts.hpp"
#include "core/parse_number.hpp"

#include <algorithm>
#include <string_view>

namespace archsim::checkpoint {

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
    if (!f.flag({"block_auto_adjust_ff_dim"}))
        return stated;
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
