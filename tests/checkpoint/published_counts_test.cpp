// Configurations as published, held against the parameters that their checkpoints have.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace archsim;
using test::cache_bytes;

namespace {

struct Published {
    const char* name;
    double parameters; ///< safetensors total of huggingface.co/<name>, or the count of the named paper
    const char* config;
    double kv_bytes_per_token; ///< by hand: 2 x layers that attend x heads of keys x size x 2 bytes
};

// Fields that no size follows from are left out.
const Published kPublished[] = {
    {"openai-community/gpt2", 124439808,
     R"({"model_type": "gpt2", "activation_function": "gelu_new", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
         "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})",
     2 * 12 * 12 * 64 * 2},
    {"bigcode/starcoder", 15517456384,
     R"({"model_type": "gpt_bigcode", "activation_function": "gelu", "multi_query": true, "n_embd": 6144,
         "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152})",
     2 * 40 * 1 * 128 * 2},
    {"EleutherAI/pythia-6.9b", 6857302016,
     R"({"model_type": "gpt_neox", "hidden_act": "gelu", "hidden_size": 4096, "intermediate_size": 16384,
         "num_attention_heads": 32, "num_hidden_layers": 32, "rotary_pct": 0.25, "vocab_size": 50432,
         "use_parallel_residual": true, "tie_word_embeddings": false})",
     2 * 32 * 32 * 128 * 2},
    {"EleutherAI/gpt-j-6b", 6050882784,
     R"({"model_type": "gptj", "activation_function": "gelu_new", "n_embd": 4096, "n_head": 16, "n_inner": null,
         "n_layer": 28, "n_positions": 2048, "rotary": true, "rotary_dim": 64, "vocab_size": 50400,
         "tie_word_embeddings": false})",
     2 * 28 * 16 * 256 * 2},
    {"bigscience/bloom-7b1", 7069016064,
     R"({"model_type": "bloom", "n_embed": 4096, "num_attention_heads": 32, "n_layer": 30, "offset_alibi": 100,
         "vocab_size": 250880})",
     2 * 30 * 32 * 128 * 2},
    {"facebook/opt-6.7b", 6658473984,
     R"({"model_type": "opt", "activation_function": "relu", "ffn_dim": 16384, "hidden_size": 4096,
         "max_position_embeddings": 2048, "num_attention_heads": 32, "num_hidden_layers": 32,
         "vocab_size": 50272, "word_embed_proj_dim": 4096})",
     2 * 32 * 32 * 128 * 2},
    {"mosaicml/mpt-7b", 6649286656,
     R"({"model_type": "mpt", "attn_config": {"alibi": true, "attn_type": "multihead_attention"},
         "d_model": 4096, "expansion_ratio": 4, "max_seq_len": 2048, "n_heads": 32, "n_layers": 32,
         "no_bias": true, "vocab_size": 50432})",
     2 * 32 * 32 * 128 * 2},
    {"databricks/dbrx-base", 131596523520,
     R"({"model_type": "dbrx", "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": ""},
         "d_model": 6144, "ffn_config": {"ffn_hidden_size": 10752, "model_type": "", "moe_num_experts": 16,
         "moe_top_k": 4}, "max_seq_len": 32768, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
         "tie_word_embeddings": false})",
     2 * 40 * 8 * 128 * 2},
    {"Qwen/Qwen-7B", 7721324544,
     R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016, "kv_channels": 128,
         "no_bias": true, "num_attention_heads": 32, "num_hidden_layers": 32, "seq_length": 8192,
         "vocab_size": 151936, "tie_word_embeddings": false})",
     2 * 32 * 32 * 128 * 2},
    {"microsoft/Phi-3-small-8k-instruct", 7392272384,
     R"({"model_type": "phi3small", "hidden_size": 4096, "ff_intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 100352,
         "hidden_act": "gegelu"})",
     2 * 32 * 8 * 128 * 2},
    {"openbmb/MiniCPM-2B-sft-bf16", 2724880896,
     R"({"model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760, "num_hidden_layers": 40,
         "num_attention_heads": 36, "num_key_value_heads": 36, "vocab_size": 122753, "scale_emb": 12,
         "dim_model_base": 256, "scale_depth": 1.4})",
     2 * 40 * 36 * 64 * 2},
    {"swiss-ai/Apertus-8B-2509", 8053338176,
     R"({"model_type": "apertus", "hidden_size": 4096, "intermediate_size": 21504, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "xielu", "qk_norm": true,
         "vocab_size": 131072, "tie_word_embeddings": false})",
     2 * 32 * 8 * 128 * 2},
    {"tencent/Hunyuan-A13B-Instruct", 80393183232,
     R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072,
         "moe_intermediate_size": [3072, 3072], "num_hidden_layers": 32, "num_attention_heads": 32,
         "num_key_value_heads": 8, "attention_head_dim": 128, "num_experts": 64, "moe_topk": [8, 8],
         "num_shared_expert": [1, 1], "use_qk_norm": true, "use_cla": false, "vocab_size": 128167,
         "tie_word_embeddings": true})",
     2 * 32 * 8 * 128 * 2},
    {"ai21labs/Jamba-v0.1", 51570323328, // 4 of 32 layers attend
     R"({"model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "num_experts": 16, "num_experts_per_tok": 2,
         "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1, "expert_layer_period": 2,
         "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_state": 16, "mamba_dt_rank": 256,
         "mamba_expand": 2, "mamba_proj_bias": false, "vocab_size": 65536, "tie_word_embeddings": false})",
     2 * 4 * 8 * 128 * 2},
    {"tiiuae/falcon-mamba-7b", 7272665088,
     R"({"model_type": "falcon_mamba", "hidden_size": 4096, "intermediate_size": 8192, "num_hidden_layers": 64,
         "state_size": 16, "time_step_rank": 256, "conv_kernel": 4, "expand": 16, "use_bias": false,
         "use_conv_bias": true, "vocab_size": 65024, "tie_word_embeddings": false})",
     0},
    {"state-spaces/mamba2-2.7b", 2702599680,
     R"({"d_model": 2560, "d_intermediate": 0, "n_layer": 64, "vocab_size": 50277,
         "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [], "attn_cfg": {}, "rms_norm": true,
         "pad_vocab_size_multiple": 16, "tie_embeddings": true})",
     0},
    {"mistralai/Mamba-Codestral-7B-v0.1", 7285403648,
     R"({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "num_heads": 128, "head_dim": 64,
         "state_size": 128, "n_groups": 8, "expand": 2, "conv_kernel": 4, "use_bias": false,
         "use_conv_bias": true, "vocab_size": 32768, "tie_word_embeddings": false})",
     0},
    {"LiquidAI/LFM2-1.2B", 1170340608, // 6 of 16 layers attend
     R"({"model_type": "lfm2", "block_auto_adjust_ff_dim": true, "block_dim": 2048, "block_ff_dim": 12288,
         "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 256, "conv_L_cache": 3, "conv_bias": false,
         "conv_dim": 2048, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "hidden_size": 2048,
         "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size": 65536,
         "tie_embedding": true})",
     2 * 6 * 8 * 64 * 2},
    {"MiniMaxAI/MiniMax-Text-01", 456089655296, // every eighth of 80 layers attends
     R"({"model_type": "minimax_text_01", "attn_type_list": [
         0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,
         0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1],
         "hidden_size": 6144, "head_dim": 128, "intermediate_size": 9216, "num_attention_heads": 64,
         "layernorm_linear_attention_alpha": 3.5565588200778455, "num_experts_per_tok": 2,
         "num_hidden_layers": 80, "num_key_value_heads": 8, "num_local_experts": 32,
         "shared_intermediate_size": 0, "vocab_size": 200064, "tie_word_embeddings": false})",
     2 * 10 * 8 * 128 * 2},
    {"google/gemma-3-4b-it", 4300079472, // what its class says is left out; 5 of 34 layers see everything
     R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
         "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
         "num_hidden_layers": 34, "sliding_window": 1024}, "vision_config": {"hidden_size": 1152,
         "image_size": 896, "intermediate_size": 4304, "model_type": "siglip_vision_model",
         "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14}})",
     2 * 5 * 4 * 256 * 2},
    {"llava-hf/llava-1.5-7b-hf", 7063427072,
     R"({"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"],
         "projector_hidden_act": "gelu", "text_config": {"max_position_embeddings": 4096,
         "model_type": "llama", "vocab_size": 32064}, "vision_config": {"hidden_size": 1024, "image_size": 336,
         "intermediate_size": 4096, "model_type": "clip_vision_model", "num_attention_heads": 16,
         "num_hidden_layers": 24, "patch_size": 14}})",
     2 * 32 * 32 * 128 * 2},
    {"meta-llama/Llama-3.2-11B-Vision", 10670220835, // 8 of 40 layers read an image and are left out
     R"({"model_type": "mllama", "architectures": ["MllamaForConditionalGeneration"],
         "text_config": {"cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "hidden_size": 4096,
         "intermediate_size": 14336, "model_type": "mllama_text_model", "num_attention_heads": 32,
         "num_hidden_layers": 40, "num_key_value_heads": 8, "vocab_size": 128256,
         "tie_word_embeddings": false}, "vision_config": {"attention_heads": 16, "hidden_act": "gelu",
         "hidden_size": 1280, "image_size": 448, "intermediate_size": 5120, "max_num_tiles": 4,
         "num_channels": 3, "num_global_layers": 8, "num_hidden_layers": 32, "patch_size": 14,
         "supported_aspect_ratios": [[1,1],[1,2],[1,3],[1,4],[2,1],[2,2],[3,1],[4,1]],
         "vision_output_dim": 7680}})",
     2 * 32 * 8 * 128 * 2},
    {"Qwen/Qwen2-VL-7B-Instruct", 8291375616,
     R"({"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"], "hidden_size": 3584,
         "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28,
         "num_key_value_heads": 4, "tie_word_embeddings": false, "vocab_size": 152064,
         "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3,
         "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})",
     2 * 28 * 4 * 128 * 2},
};

std::string refusal(const std::string& text) {
    try {
        (void)read_checkpoint_config(text, "config.json");
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("parameters within 0.5 % of the published checkpoints, caches by hand", "[checkpoint]") {
    for (const Published& p : kPublished) {
        INFO(p.name);
        const Checkpoint c = read_checkpoint_config(p.config, p.name);
        CHECK(archsim::bind(c.graph, {}, c.dims).parameters() == Approx(p.parameters).epsilon(0.005));
        CHECK(cache_bytes(c, 4001) - cache_bytes(c, 4000) == p.kv_bytes_per_token);
        for (const Finding& f : c.graph.findings)
            CHECK_THAT(f.where, Catch::Equals("moe_intermediate_size") || Catch::Equals("moe_topk") ||
                                    Catch::Equals("num_shared_expert") ||
                                    Catch::Equals("vision_config")); // the shortened lists above
    }
}

TEST_CASE("norms with a mean have biases, and halves side by side may share one", "[checkpoint]") {
    // To the last parameter, where nothing of a published checkpoint lies outside its layers.
    const Published exact[] = {
        {"openai-community/gpt2", 124439808,
         R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
             "vocab_size": 50257})",
         0},
        {"bigscience/bloom-7b1", 7069016064,
         R"({"model_type": "bloom", "n_embed": 4096, "num_attention_heads": 32, "n_layer": 30,
             "vocab_size": 250880})",
         0},
        {"facebook/opt-6.7b", 6658473984,
         R"({"model_type": "opt", "ffn_dim": 16384, "hidden_size": 4096, "max_position_embeddings": 2048,
             "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50272,
             "word_embed_proj_dim": 4096})",
         0},
        {"microsoft/phi-2", 2779683840,
         R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32,
             "num_attention_heads": 32, "vocab_size": 51200, "tie_word_embeddings": false})",
         0},
        {"EleutherAI/gpt-j-6b", 6050882784,
         R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28,
             "n_positions": 2048, "vocab_size": 50400, "tie_word_embeddings": false})",
         0},
        {"EleutherAI/pythia-6.9b", 6857302016,
         R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384,
             "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50432,
             "use_parallel_residual": true, "tie_word_embeddings": false})",
         0},
        {"tiiuae/falcon-7b", 6921720704,
         R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
             "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false, "bias": false,
             "alibi": false, "vocab_size": 65024})",
         0},
    };
    for (const Published& p : exact) {
        INFO(p.name);
        const Checkpoint c = read_checkpoint_config(p.config, p.name);
        CHECK(archsim::bind(c.graph, {}, c.dims).parameters() == p.parameters);
    }
}

TEST_CASE("Kimi's delta attention: a cache in the listed layers alone", "[checkpoint]") {
    // moonshotai/Kimi-Linear-48B-A3B-Base: arXiv:2510.26692 counts 48 B, the checkpoint 49.12 B.
    const Checkpoint c = read_checkpoint_config(
        R"({"model_type": "kimi_linear", "hidden_size": 2304, "intermediate_size": 9216,
            "moe_intermediate_size": 1024, "moe_layer_freq": 1, "num_hidden_layers": 27,
            "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 72, "kv_lora_rank": 512,
            "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
            "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128,
            "kda_layers": [1, 2, 3], "num_heads": 32, "short_conv_kernel_size": 4}, "num_experts": 256,
            "num_experts_per_token": 8, "num_shared_experts": 1, "first_k_dense_replace": 1,
            "vocab_size": 163840, "tie_word_embeddings": false})",
        "config.json");
    CHECK(archsim::bind(c.graph, {}, c.dims).parameters() == Approx(49.122681728e9).epsilon(0.005));
    CHECK(cache_bytes(c, 101) - cache_bytes(c, 100) == 7 * (512 + 64) * 2);
}

TEST_CASE("numbers that differ from layer to layer", "[checkpoint]") {
    // Two layers of 64: q, o 64 x 64; k, v of two heads of 16 and of one; MLPs of 128 and 256.
    const Checkpoint c = read_checkpoint_config(
        R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads_per_layer": [2, 1], "intermediate_size": [128, 256], "vocab_size": 1000,
            "tie_word_embeddings": true})",
        "config.json");
    const double norms = 2 * 64;
    CHECK(archsim::bind(c.graph, {}, c.dims).parameters() ==
          4 * 64 * 64 + 2 * 64 * (32 + 16) + 3 * 64 * (128 + 256) + 2 * norms + 1000 * 64 + 64);
    CHECK(cache_bytes(c, 11) - cache_bytes(c, 10) == 2 * (2 + 1) * 16 * 2);
    CHECK(c.graph.findings.empty());
}

TEST_CASE("neighbours that share one cache", "[checkpoint]") {
    const Checkpoint c = read_checkpoint_config(
        R"({"model_type": "hunyuan", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "use_cla": true,
            "cla_share_factor": 2, "tie_word_embeddings": true})",
        "config.json");
    CHECK(cache_bytes(c, 11) - cache_bytes(c, 10) == 2 * 2 * 2 * 16 * 2); // two of four layers
}

TEST_CASE("files that describe no decoder say what they are", "[checkpoint]") {
    CHECK_THAT(refusal(R"({"peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.1-8B", "r": 16,
                    "target_modules": ["q_proj", "v_proj"]})"),
               Catch::Contains("an adapter of rank 16") && Catch::Contains("v_proj") &&
                   Catch::Contains("meta-llama/Llama-3.1-8B"));
    CHECK_THAT(refusal(R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
                           "num_attention_heads": 12, "vocab_size": 30522, "type_vocab_size": 2})"),
               Catch::Contains("encoder"));
    CHECK_THAT(refusal(R"({"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24, "ffn_dim": 4096,
                           "num_attention_heads": 16, "vocab_size": 50272, "word_embed_proj_dim": 512})"),
               Catch::Contains("word_embed_proj_dim"));
}

TEST_CASE("further methods of quantisation", "[checkpoint]") {
    const auto bits = [](const std::string& quantization) {
        const Checkpoint c = read_checkpoint_config(
            R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
                "intermediate_size": 128, "vocab_size": 1000, "quantization_config": )" +
                quantization + "}",
            "config.json");
        const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
        for (const ShapedTensor& t : graph.tensors)
            if (t.name == "model.layers.0.mlp.up_proj.weight")
                return t.stored_bits();
        return -1.0;
    };
    CHECK(bits(R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}})") ==
          8);
    CHECK(
        bits(
            R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}})") ==
        4.25);
    CHECK(bits(R"({"quant_method": "eetq"})") == 8);
    CHECK(bits(R"({"quant_method": "bitnet"})") == 2);
}

TEST_CASE("a model of states alone answers prompts, and its steps do not grow", "[checkpoint]") {
    const auto folder = std::filesystem::temp_directory_path() / "archsim_states_alone";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json")
        << R"({"model_type": "mamba2", "hidden_size": 256, "num_hidden_layers": 2, "num_heads": 8, "head_dim": 64,
               "state_size": 64, "n_groups": 1, "vocab_size": 1000, "tie_word_embeddings": true})";
    const Session& session = test::shipped_session();
    const Model model = session.load((folder / "config.json").string());
    const auto per_token = [&](std::int64_t prompt) {
        const Result r =
            session.estimate({.model = model, .prompt = Prompt{.tokens = prompt, .generate = 2}}, "H100", {});
        REQUIRE(r.generation);
        CHECK(r.model->findings.empty()); // no size of a context that it does not have
        return r.generation->time_per_output_token_s;
    };
    CHECK(session.facts({.model = model})->findings.empty());
    CHECK(per_token(10) > 0);
    CHECK(per_token(10) == per_token(4000));
    std::filesystem::remove_all(folder);
}
