// Sizes that differ from layer to layer, in excerpts of the fields that state them.

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/parameters.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace archsim;
using test::parameters;

namespace {

Checkpoint of_fields(const std::string& fields) {
    return read_checkpoint_config(R"({"hidden_size": 64, "vocab_size": 1000, "tie_word_embeddings": true)" +
                                      fields + "}",
                                  "config.json");
}

bool none_unknown(const Checkpoint& c) {
    return std::none_of(c.graph.findings.begin(), c.graph.findings.end(),
                        [](const Finding& f) { return f.kind == FindingKind::unknown_key; });
}

const std::string kLayerHeads =
    R"(, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128)";
constexpr double kTableAndNorm = 1000 * 64 + 64;

} // namespace

TEST_CASE("a list of kinds says how many layers there are, and each is half of one", "[checkpoint]") {
    const std::string hybrid = kLayerHeads + R"(, "model_type": "nemotron_h", "mlp_hidden_act": "relu2",
        "mamba_num_heads": 4, "mamba_head_dim": 32, "ssm_state_size": 16, "n_routed_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 32, "moe_latent_size": 16,
        "time_step_limit": [0.0, 1e+308], "num_nextn_predict_layers": 1)";
    const Checkpoint kinds = of_fields(hybrid + R"(, "mtp_layers_block_type": ["attention", "moe"],
        "layers_block_type": ["mamba", "moe", "attention", "mlp"])"),
                     letters = of_fields(hybrid + R"(, "num_hidden_layers": 4,
        "hybrid_override_pattern": "ME*-", "mtp_hybrid_override_pattern": "*E")");
    CHECK(kinds.facts.layers == 4);
    CHECK(parameters(kinds) == parameters(letters));
    CHECK(none_unknown(kinds));
    const double attention = 64 + 2 * 64 * 64 + 2 * 64 * 32,
                 experts = 64 + 64 * 8 + 2 * 64 * 16 + 8 * 2 * 16 * 32;
    CHECK(kinds.facts.prediction_parameters == attention + experts + 2 * 64 * 64);
    CHECK(letters.facts.prediction_parameters == kinds.facts.prediction_parameters);
}

TEST_CASE("sizes of states and experts that no layer has change nothing", "[checkpoint]") {
    // ibm-granite/granite-4.0-micro is a decoder whose file has all fields of its hybrid kin.
    const std::string plain = kLayerHeads + R"(, "model_type": "granitemoehybrid", "num_hidden_layers": 2)";
    const Checkpoint c = of_fields(plain + R"(, "layer_types": ["attention", "attention"], "mamba_n_heads": 8,
        "mamba_d_head": 16, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": true,
        "num_local_experts": 0, "num_experts_per_tok": 0, "shared_intermediate_size": 96)");
    CHECK(none_unknown(c));
    // What is left of a layer without experts is the MLP that all tokens share.
    CHECK(parameters(of_fields(plain)) - parameters(c) == 2 * 3 * 64 * (128 - 96));
    const Checkpoint stated = of_fields(kLayerHeads + R"(, "model_type": "lfm2", "num_hidden_layers": 1,
        "block_ffn_dim_multiplier": 2.0, "block_multiple_of": 256, "block_auto_adjust_ff_dim": false)");
    CHECK(none_unknown(stated)); // of a width that is not adjusted
}

TEST_CASE("the width of the shared expert by the name of Step", "[checkpoint]") {
    const std::string sparse =
        kLayerHeads + R"(, "model_type": "llama", "num_hidden_layers": 2, "num_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1)";
    CHECK(parameters(of_fields(sparse + R"(, "share_expert_dim": 48)")) - parameters(of_fields(sparse)) ==
          2 * 3 * 64 * (48 - 32));
}

TEST_CASE("layers with a window have heads of their own", "[checkpoint]") {
    const Checkpoint c =
        of_fields(R"(, "model_type": "llama", "num_hidden_layers": 2, "intermediate_size": 128,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 24, "v_head_dim": 16,
        "swa_num_attention_heads": 4, "swa_num_key_value_heads": 2, "swa_head_dim": 24, "swa_v_head_dim": 16,
        "sliding_window": 128, "hybrid_layer_pattern": [0, 1], "add_swa_attention_sink_bias": true,
        "add_full_attention_sink_bias": false)");
    const auto attention = [](double kv) { return 64.0 * (4 * 24 + kv * (24 + 16) + 4 * 16); };
    const double rest = 2 * 64 + 3 * 64 * 128;
    CHECK(parameters(c) == attention(1) + attention(2) + 4 + 2 * rest + kTableAndNorm);
    CHECK(none_unknown(c));
    // Laguna states the heads of each layer beside those of most.
    const auto listed = [](const std::string& more) {
        return parameters(
            of_fields(R"(, "model_type": "llama", "num_hidden_layers": 2, "intermediate_size": 128,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16)" +
                      more));
    };
    CHECK(listed(R"(, "num_attention_heads_per_layer": [4, 6])") - listed("") == 2 * 64 * 2 * 16);
}

TEST_CASE("layers that share an index have none", "[checkpoint]") {
    const auto latent = [](const std::string& more) {
        return of_fields(R"(, "model_type": "glm_moe_dsa", "num_hidden_layers": 7, "intermediate_size": 128,
            "num_attention_heads": 4, "q_lora_rank": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 4, "v_head_dim": 8, "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4,
            "indexer_rope_interleave": true, "index_share_for_mtp_iteration": true)" +
                         more);
    };
    const double index = 32 * 2 * 8 + 64 * 8 + 64 * 2 + 8, all = parameters(latent(""));
    const Checkpoint listed =
        latent(R"(, "indexer_types": ["full", "full", "full", "shared", "shared", "shared",
        "full"], "index_topk_freq": 4, "index_skip_topk_offset": 3)");
    CHECK(all - parameters(listed) == 3 * index);
    CHECK(none_unknown(listed));
    CHECK(parameters(latent(R"(, "index_topk_freq": 4, "index_skip_topk_offset": 3)")) == parameters(listed));
    CHECK(parameters(latent(R"(, "index_topk_pattern": "FFFSSSF")")) == parameters(listed));
    std::size_t caches = 0;
    for (const TensorId id : listed.graph.inputs)
        caches += listed.graph.tensors[id].name.ends_with(".index") ? 1 : 0;
    CHECK(caches == 4);
}

TEST_CASE("a tower whose stated inner width is that of the MLP behind its layers", "[checkpoint]") {
    // GLM-4V: blocks of attention and gated MLPs as wide as the result (vLLM, models/glm4_1v.py).
    const Checkpoint c = read_checkpoint_config(R"({"text_config": {"model_type": "glm4v_text",
        "hidden_size": 64, "vocab_size": 1000, "num_hidden_layers": 1, "num_attention_heads": 4,
        "intermediate_size": 128}, "vision_config": {"model_type": "glm4v", "hidden_size": 32, "depth": 2,
        "num_heads": 2, "intermediate_size": 96, "out_hidden_size": 64, "image_size": 28, "patch_size": 14,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3, "hidden_act": "silu"}})",
                                                "config.json");
    const double blocks = 2 * (4 * 32 * 32 + 3 * 32 * 64 + 2 * 32), merger = 64 * 64 + 3 * 64 * 96;
    CHECK(c.facts.vision_parameters == 32 * 3 * 2 * 14 * 14 + 4 * 32 + blocks + 4 * 32 * 64 + merger);
}

TEST_CASE("a tower's table of rows and columns, and the square that becomes a token", "[checkpoint]") {
    const Checkpoint c = read_checkpoint_config(R"({"text_config": {"model_type": "llama", "hidden_size": 64,
        "vocab_size": 1000, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 128},
        "use_unified_vision_chunk": true, "vision_config": {"vt_hidden_size": 32, "vt_num_hidden_layers": 1,
        "vt_num_attention_heads": 2, "vt_intermediate_size": 64, "qkv_hidden_size": 48, "patch_size": 2,
        "init_pos_emb_height": 8, "init_pos_emb_width": 4, "init_pos_emb_time": 4, "merge_kernel_size": [2, 2],
        "mm_hidden_size": 32, "text_hidden_size": 64}})",
                                                "config.json");
    const double blocks = 4 * 32 * 48 + 2 * 32 * 64 + (5 * 32 + 64) + 4 * 32, merger = 128 * 128 + 128 * 64;
    CHECK(c.facts.vision_parameters == 32 * 3 * 4 + 32 * 32 + blocks + merger);
    CHECK(none_unknown(c));
}
