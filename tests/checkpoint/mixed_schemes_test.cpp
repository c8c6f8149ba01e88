// Checkpoints whose matrices are quantised in several ways, in excerpts of their fields.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/parameters.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace archsim;

namespace {

const std::string kFewSizes = R"("hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128, "vocab_size": 1000)";
const std::string kTwoLayers = R"(, "num_hidden_layers": 2)";
const std::string kEightExperts = R"(, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "n_shared_experts": 1)";

Checkpoint read_fields(const std::string& fields) {
    return read_checkpoint_config("{" + kFewSizes + fields + "}", "config.json");
}

/// Of every checkpoint here the second layer is of the kind that most layers are.
double width_of(const Checkpoint& c, const std::string& module) {
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    for (const ShapedTensor& t : graph.tensors)
        if (t.name == module + ".weight")
            return t.stored_bits();
    return -1;
}

std::string stored_as(const Checkpoint& c, const char* what) {
    for (const Node& node : c.graph.nodes)
        if (node.op_type == "Stored")
            if (const AttributeValue* value = node.attribute(what))
                return std::get<std::string>(*value);
    return "";
}

const std::string kSecond = "model.layers.1.", kSecondQ = kSecond + "self_attn.q_proj",
                  kRouted = kSecond + "mlp.experts.w1", kShared = kSecond + "mlp.shared_experts.up_proj";

} // namespace

TEST_CASE("mxfp8 with exceptions in ignored_layers", "[checkpoint]") {
    const Checkpoint c =
        read_fields(kTwoLayers + kEightExperts + R"(, "model_type": "minimax_m3", "quantization_config": {
        "quant_method": "mxfp8", "activation_scheme": "dynamic", "weight_block_size": [1, 32],
        "ignored_layers": ["lm_head", "model.layers.0.self_attn"]})");
    CHECK(width_of(c, kSecondQ) == 8.25);
    CHECK(width_of(c, kRouted) == 8.25);
    CHECK(width_of(c, "model.layers.0.self_attn.q_proj") == 16);
    CHECK(width_of(c, "lm_head") == 16);
    CHECK(stored_as(c, "products") == "fp8");
}

TEST_CASE("routed experts of a type of their own beside the scheme of all others", "[checkpoint]") {
    const Checkpoint c =
        read_fields(kTwoLayers + kEightExperts + R"(, "model_type": "deepseek_v4", "expert_dtype": "fp4",
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"})");
    CHECK(width_of(c, kRouted) == 4.25);
    CHECK(width_of(c, kShared) == 8 + 32.0 / (128 * 128));
    CHECK(width_of(c, kSecondQ) == 8 + 32.0 / (128 * 128));
    CHECK(stored_as(c, "products") == "fp8"); // of the experts too: their inputs are fp8
    CHECK(stored_as(c, "format") == "fp4");
    CHECK(c.facts.weight_format == "mxfp4");
}

TEST_CASE("an algorithm per module, named as each author names modules", "[checkpoint]") {
    const auto mixed = [](const std::string& fields, const std::string& layers, const std::string& left) {
        return read_fields(fields + R"(, "quantization_config": {"quant_method": "modelopt", "quant_algo":
            "MIXED_PRECISION", "kv_cache_quant_algo": null, "quantized_layers": {)" +
                           layers + R"(}, "exclude_modules": [)" + left + "]}");
    };
    const Checkpoint v4 = mixed(kTwoLayers + kEightExperts + R"(, "model_type": "deepseek_v4")",
                                R"("layers.0.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16},
        "layers.1.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16})",
                                R"("*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*")");
    CHECK(width_of(v4, kRouted) == 4.5);
    CHECK(width_of(v4, kShared) == 16);
    CHECK(width_of(v4, kSecondQ) == 16);
    CHECK(stored_as(v4, "products") == "fp4");
    // Most weights are the experts', though another scheme is named first.
    const Checkpoint m3 = mixed(kTwoLayers + kEightExperts + R"(, "model_type": "minimax_m3")",
                                R"(
        "language_model.model.layers.0.self_attn.q_proj": {"quant_algo": "MXFP8"},
        "language_model.model.layers.1.self_attn.q_proj": {"quant_algo": "MXFP8"},
        "language_model.model.layers.1.block_sparse_moe.experts.0.w1": {"quant_algo": "NVFP4"},
        "language_model.model.layers.1.block_sparse_moe.experts.0.w2": {"quant_algo": "NVFP4"},
        "language_model.model.layers.1.block_sparse_moe.experts.0.w3": {"quant_algo": "NVFP4"})",
                                "");
    CHECK(width_of(m3, kRouted) == 4.5);
    CHECK(width_of(m3, kSecondQ) == 8.25);
    CHECK(width_of(m3, kShared) == 16);
    CHECK(m3.facts.weight_format == "nvfp4");
    CHECK(stored_as(m3, "products") == "fp4");
    CHECK(stored_as(m3, "cache").empty());
    const Checkpoint hybrid =
        mixed(kEightExperts + R"(, "model_type": "nemotron_h", "mlp_hidden_act": "relu2",
        "layers_block_type": ["mamba", "moe", "attention"], "mamba_num_heads": 4, "mamba_head_dim": 32,
        "ssm_state_size": 16, "time_step_limit": [0.0, Infinity])",
              R"("backbone.layers.0.mixer.in_proj": {"quant_algo": "FP8"},
        "backbone.layers.1.mixer.experts.0.up_proj": {"quant_algo": "W4A16_NVFP4"},
        "backbone.layers.1.mixer.experts.0.down_proj": {"quant_algo": "W4A16_NVFP4"},
        "backbone.layers.1.mixer.shared_experts.up_proj": {"quant_algo": "W4A16_NVFP4"},
        "lm_head": {"quant_algo": "W4A16_NVFP4"})",
              R"("backbone.layers.2.mixer.q_proj")");
    CHECK(hybrid.facts.layers == 3);
    CHECK(width_of(hybrid, "model.layers.0.mixer.in_proj") == 8);
    CHECK(width_of(hybrid, kRouted) == 4.5);
    CHECK(width_of(hybrid, kShared) == 4.5);
    CHECK(width_of(hybrid, "lm_head") == 4.5);
    CHECK(width_of(hybrid, "model.layers.2.self_attn.q_proj") == 16);
    CHECK(hybrid.facts.weight_format == "nvfp4");
}

TEST_CASE("groups with expressions over names that the graph does not have", "[checkpoint]") {
    const Checkpoint c =
        read_fields(kTwoLayers + kEightExperts + R"(, "model_type": "deepseek_v4", "expert_dtype": "fp4",
        "compress_ratios": [0, 0], "q_lora_rank": 8, "o_groups": 2, "o_lora_rank": 8, "sliding_window": 8,
        "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4,
        "quantization_config": {"quant_method": "compressed-tensors", "format": "mixed-precision", "ignore": [],
        "config_groups": {"group_0": {"targets": ["re:.*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$"],
            "input_activations": {"num_bits": 8, "type": "float", "group_size": 128},
            "weights": {"num_bits": 8, "type": "float", "block_structure": [128, 128]}},
        "group_1": {"targets": ["re:.*ffn.*(gate|up|down)_proj$"],
            "input_activations": {"num_bits": 4, "type": "float", "group_size": 16},
            "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})");
    for (const char* matrix : {"q_a_proj", "q_b_proj", "kv_proj", "o_a_proj", "o_b_proj"})
        CHECK(width_of(c, kSecond + "self_attn." + matrix) == 8 + 32.0 / (128 * 128));
    CHECK(width_of(c, kRouted) == 4.5);
    CHECK(width_of(c, kShared) == 4.5);
    CHECK(width_of(c, "lm_head") == 16);
    CHECK(c.facts.weight_format == "nvfp4");
    CHECK(stored_as(c, "products") == "fp4");
}

TEST_CASE("a dense MLP beside experts is left out without them", "[checkpoint]") {
    const Checkpoint c =
        read_fields(kTwoLayers + R"(, "model_type": "gemma4_text", "head_dim": 16, "enable_moe_block": true,
        "num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 32, "layer_types": ["full_attention",
        "full_attention"], "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4",
        "kv_cache_scheme": "FP8", "ignore": ["model.language_model.layers.0.mlp*",
        "model.language_model.layers.1.mlp*", "model.language_model.layers.1.router*",
        "model.language_model.layers.1.self_attn*"]})");
    CHECK(width_of(c, kSecond + "mlp.up_proj") == 16);
    CHECK(width_of(c, kSecond + "experts.w1") == 4.5);
    CHECK(width_of(c, kSecondQ) == 16);
    CHECK(stored_as(c, "cache") == "fp8");
}

TEST_CASE("tens of thousands of names of experts take no time", "[checkpoint]") {
    std::string layers;
    for (int i = 0; i < 22'000; ++i)
        layers += (i > 0 ? ", " : "") +
                  ("\"model.layers." + std::to_string(i / 300) + ".block_sparse_moe.experts.") +
                  std::to_string(i % 300 / 3) + ".w" + std::to_string(1 + i % 3) +
                  R"(": {"quant_algo": "NVFP4", "group_size": 16})";
    const auto start = std::chrono::steady_clock::now();
    const Checkpoint c = read_fields(kEightExperts + R"(, "num_hidden_layers": 60, "model_type": "minimax_m3",
        "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {)" + layers +
                                     "}}");
    CHECK(std::chrono::steady_clock::now() - start <
          std::chrono::seconds(5)); // 0.1 s unless they are compared one by one
    CHECK(width_of(c, "model.layers.59.mlp.experts.w3") == 4.5);
}

TEST_CASE("a checkpoint of several schemes says which matrices it quantises alone", "[checkpoint]") {
    const Checkpoint c = read_fields(kTwoLayers + R"(, "model_type": "llama", "quantization_config": {
        "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
        "model.layers.1.self_attn.q_proj": {"quant_algo": "FP8"},
        "model.layers.1.mlp.up_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}})");
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    CHECK(graph.stored_products == Precision::fp8);
    std::vector<std::string> alone;
    for (const ShapedTensor& t : graph.tensors)
        if (t.weight_only)
            alone.push_back(t.name);
    CHECK(alone == std::vector<std::string>{kSecond + "mlp.up_proj.weight"});
}
