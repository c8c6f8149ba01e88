#include "checkpoint/fields.hpp"

#include "core/json_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace archsim::checkpoint {

namespace {

using nlohmann::json;

/// Python's json module writes what JSON has no word for.
std::string without_infinities(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
            quoted = !quoted;
        bool replaced = false;
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
            if (!quoted && text.substr(i).starts_with(word)) {
                out += "null";
                i += word.size();
                replaced = true;
                break;
            }
        if (!replaced)
            out += text[i++];
    }
    return out;
}

// Fields that change neither a size nor what is computed with it.
constexpr std::array kHarmless = {
    "architectures", "auto_map", "bos_token_id", "eos_token_id", "pad_token_id", "transformers_version",
    "use_cache", "rope_theta", "rope_scaling", "rope_parameters", "rms_norm_eps", "norm_eps",
    "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "initializer_range", "attention_dropout",
    "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop", "max_position_embeddings", "torch_dtype",
    "dtype", "_name_or_path", "pretraining_tp", "output_router_logits", "router_aux_loss_coef",
    "router_jitter_noise", "norm_topk_prob", "scoring_func", "topk_method", "routed_scaling_factor",
    "n_group", "topk_group", "aux_loss_alpha", "seq_aux", "rope_interleave", "initial_context_length",
    "swiglu_limit", "query_pre_attn_scalar", "id2label", "label2id", "problem_type", "return_dict",
    "output_attentions", "output_hidden_states", "chunk_size_feed_forward", "is_encoder_decoder",
    "attention_bias", "mlp_bias", "time_step_floor", "time_step_limit", "time_step_max", "time_step_min",
    "time_step_rank", "rescale_prenorm_residual", "residual_in_fp32", "num_logits_to_keep", "chunk_size",
    "use_mamba_kernels", "rotary_dim", "partial_rotary_factor", "rope_type",
    "original_max_position_embeddings", "attn_logit_softcapping", "final_logit_softcapping",
    "use_bidirectional_attention", "mamba_hidden_act", "mamba_ssm_dtype", "max_window_layers", "qk_norm_type",
    "use_routing_bias", "ep_size", "moe_layer_freq", "attn_temperature_tuning", "floor_scale", "attn_scale",
    "for_llm_compressor", "bias", "embedding_multiplier", "logits_scaling", "residual_multiplier",
    "attention_multiplier", "qkv_bias_init", "rope_local_base_freq", "cache_implementation", "sep_token_id",
    "cls_token_id", "unk_token_id", "tokenizer_class", "vocab_type", "use_sliding_window", "model_type",
    "boi_token_index", "eoi_token_index", "image_token_index", "mm_tokens_per_image",
    "vision_soft_tokens_per_image", "decoder_start_token_id", "vocab_size_per_layer_input", "max_seq_len",
    "hidden_activation", "mrope_section", "mamba_chunk_size", "activation_dropout", "classifier_dropout",
    "summary_type", "tf_legacy_loss", "scale_attn_weights", "n_positions", "n_ctx", "clip_qkv",
    "use_qkv_bias", "head_dim_rope", "vocab_padding", "moe_router_dtype", "moe_router_load_balancing_type",
    "norm_before_gate", "global_head_dim", "rope_theta_local", "interleave_moe_layer_step", "use_rms_norm",
    "router_bias_update_speed",
    // positions and names of kernels: no size follows from them
    "use_parallel_embedding", "use_embedding_sharing", "use_gated_activation",
    "apply_residual_connection_post_layernorm", "apply_query_key_layer_scaling", "do_layer_norm_before",
    "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "bias_dropout_fusion",
    "masked_softmax_fusion", "skip_bias_add", "offset_alibi", "alibi", "alibi_bias_max", "learned_pos_emb",
    "logit_scale", "layer_switch", "model_max_length", "rotary", "rotary_emb_base", "rms_norm", "rmsnorm",
    "norm_type", "post_layer_norm", "original_rope", "multi_query_attention", "seq_length", "scale_emb",
    "scale_depth", "dim_model_base", "fused_add_norm", "mamba_inner_layernorms", "no_bias", "ff_factor",
    "gegelu_limit", "gegelu_pad_to_256", "task_specific_params", "use_dynamic_ntk", "use_logn_attn",
    "use_mixed_mlp_moe", "org_vocab_size", "position_embedding_xdrope", "cla_share_factor",
    "moe_layer_end_index", "moe_use_aux_free", "moe_capacity", "moe_renormalize", "use_grouped_topk",
    "num_expert_group", "mla_use_nope", "altup_num_inputs", "altup_coef_clip", "altup_correct_scale",
    "block_dim", "block_use_swiglu", "conv_dim_out", "use_pos_enc", "num_gqa_groups", "ffn_with_glu",
    "qkv_multipliers", "rope_max_length", "postnorm", "max_attn_value", "pad_vocab_size_multiple",
    "use_rmsnorm", "init_config", "projection_dim", "no_rope_layers", "no_rope_layer_interval",
    "compress_rope_parameters", "indexer_rope_interleave", "use_gemma_norm",
    // what runs when, and how images and videos are cut into tokens
    "index_share_for_mtp_iteration", "moe_shared_expert_overlap", "use_unified_vision_chunk",
    "image_seq_length", "video_seq_length"};

constexpr std::array kHarmlessEndings = {
    "_token_id",    "_token_index", "_token",   "_dropout", "_eps",     "_epsilon",
    "_coef",        "_loss",        "_pdrop",   "_std",     "_init",    "_theta",
    "_scaling",     "_multiplier",  "_version", "_range",   "_softcap", "_prob",
    "_softcapping", "_factor",      "_eps_",    "_alpha",   "_beta",    "_tokens_per_image"};
constexpr std::array kHarmlessBeginnings = {
    "rope_",      "initializer_", "output_",   "tokenizer_", "_",          "summary_",
    "is_",        "prefix",       "begin_",    "forced_",    "num_return", "num_beam",
    "layernorm_", "z_loss",       "suppress_", "bad_words",  "tf_",        "auto_"};

/// A value that could be a size or a pattern of layers: numbers that are no fractions, lists, objects,
/// `true`.
bool could_be_size(const json& value) {
    if (value.is_number_float())
        return value.get<double>() == std::floor(value.get<double>()) && value.get<double>() >= 2;
    if (value.is_number_integer())
        return value.get<std::int64_t>() >= 2;
    return (value.is_structured() && !value.empty()) || (value.is_boolean() && value.get<bool>());
}

} // namespace

bool changes_no_size(std::string_view key) {
    return std::find(kHarmless.begin(), kHarmless.end(), key) != kHarmless.end() ||
           std::any_of(kHarmlessEndings.begin(), kHarmlessEndings.end(),
                       [&](std::string_view end) { return key.ends_with(end); }) ||
           std::any_of(kHarmlessBeginnings.begin(), kHarmlessBeginnings.end(),
                       [&](std::string_view start) { return key.starts_with(start); });
}

json parse_python_json(std::string_view text, const std::string& file) {
    try {
        json document = json::parse(without_infinities(bounded_json(text, file)));
        if (document.is_object())
            return document;
    } catch (const json::exception& problem) {
        const std::string_view what = problem.what(); // begins with the name of the exception, in brackets
        throw InputError(fmt::format("{}: not JSON: {}", file, what.substr(what.find("] ") + 2)));
    }
    throw InputError(fmt::format("{}: not the configuration of a model: no JSON object", file));
}

Fields::Fields(const json& object, std::string file, std::string prefix)
    : object_(object), file_(std::move(file)), prefix_(std::move(prefix)) {}

const json* Fields::find(Names names) {
    const json* found = nullptr;
    for (const char* name : names) {
        read_.insert(name);
        if (const auto it = object_.find(name); !found && it != object_.end() && !it->is_null())
            found = &*it;
    }
    return found;
}

void Fields::refuse(const std::string& key, const std::string& why) const {
    Finding finding;
    finding.kind = FindingKind::malformed_file;
    finding.file = file_;
    finding.where = prefix_ + key;
    finding.message = why;
    finding.hint = "take the file as published with the model";
    throw InputError(finding);
}

std::int64_t Fields::count(Names names, std::int64_t fallback, std::int64_t least) {
    const json* value = find(names);
    if (!value)
        return fallback;
    const std::string key = *names.begin();
    if (!value->is_number())
        refuse(key, "must be a whole number");
    const auto number = value->get<double>();
    if (number != std::floor(number) || number > kLargestCount || number < static_cast<double>(least))
        refuse(key, fmt::format("{} is no count of at least {}", value->dump(), least));
    return static_cast<std::int64_t>(number);
}

std::int64_t Fields::count(Names names) {
    if (!has(names))
        refuse(*names.begin(), fmt::format("missing; also looked for {}", fmt::join(names, ", ")));
    return count(names, 0, 1);
}

double Fields::number(Names names, double fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
        refuse(*names.begin(), "must be a number");
    return value->get<double>();
}

bool Fields::flag(Names names, bool fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (value->is_number())
        return value->get<double>() != 0;
    if (!value->is_boolean())
        refuse(*names.begin(), "must be true or false");
    return value->get<bool>();
}

std::string Fields::text(Names names, const std::string& fallback) {
    const json* value = find(names);
    if (!value)
        return fallback;
    if (!value->is_string())
        refuse(*names.begin(), "must be text");
    return value->get<std::string>();
}

std::vector<std::string> Fields::texts(Names names) {
    std::vector<std::string> out;
    if (const json* value = find(names)) {
        if (!value->is_array())
            refuse(*names.begin(), "must be a list of text");
        for (const json& item : *value) {
            if (!item.is_string())
                refuse(*names.begin(), "must be a list of text");
            out.push_back(item.get<std::string>());
        }
    }
    return out;
}

std::vector<std::int64_t> Fields::counts(Names names) {
    std::vector<std::int64_t> out;
    if (const json* value = find(names)) {
        if (!value->is_array())
            refuse(*names.begin(), "must be a list of numbers");
        for (const json& item : *value) {
            if (!item.is_number() || std::abs(item.get<double>()) > kLargestCount)
                refuse(*names.begin(), "must be a list of numbers");
            out.push_back(static_cast<std::int64_t>(item.get<double>()));
        }
    }
    return out;
}

void Fields::skip(Names names) {
    for (const char* name : names)
        read_.insert(name);
}

void Fields::report_unread(std::vector<Finding>& findings) const {
    for (const auto& [key, value] : object_.items()) {
        if (read_.contains(key) || changes_no_size(key) || !could_be_size(value))
            continue;
        std::string shown = value.dump();
        constexpr std::size_t kShown = 40;
        if (shown.size() > kShown)
            shown = shown.substr(0, kShown) + "...";
        Finding finding;
        finding.kind = FindingKind::unknown_key;
        finding.severity = Severity::warning;
        finding.file = file_;
        finding.where = prefix_ + key;
        finding.message =
            fmt::format("{} is not known and may change sizes; the model is counted without it", shown);
        finding.hint = "hold the parameters against the published count";
        findings.push_back(std::move(finding));
    }
}

} // namespace archsim::checkpoint
