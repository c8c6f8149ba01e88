// Decoders whose layers are of a kind of their own: caches and parameters against what their papers and
// classes in transformers say, on small sizes.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/parameters.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;
using test::cache_bytes;
using test::parameters;

namespace {

constexpr double kHalf = 2, kFloat = 4; // bytes

Checkpoint decoder_of(const std::string& fields) {
    return read_checkpoint_config("{" + fields + R"(, "vocab_size": 1000, "tie_word_embeddings": false})",
                                  "config.json");
}

const std::string kFourHeads = R"("hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128)";

/// Pairs of queries and keys that all attention of a step multiplies, times heads and widths: its
/// multiply-accumulates.
double attention_macs(const Checkpoint& c, std::int64_t past) {
    Bindings sizes;
    sizes.dims = {{"batch", 1}, {"sequence", 1}, {"past_sequence", past}};
    const ShapedGraph graph = archsim::bind(c.graph, sizes, c.dims);
    double macs = 0;
    for (const Operator& op : graph.operators)
        macs += op.work.attention ? op.work.macs : 0;
    return macs;
}

} // namespace

TEST_CASE("compressed attention keeps a window and one vector for every few positions", "[checkpoint]") {
    const std::string common = R"("model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16, "q_lora_rank": 8, "o_groups": 2,
        "o_lora_rank": 4, "sliding_window": 8, "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4,
        "qk_rope_head_dim": 4, "hc_mult": 2, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32, "n_shared_experts": 1, "num_hash_layers": 1)";
    const Checkpoint numbers = decoder_of(common + R"(, "compress_ratios": [0, 4, 16, 0])"),
                     kinds = decoder_of(common + R"(, "layer_types": ["sliding_attention",
        "compressed_sparse_attention", "heavily_compressed_attention"],
        "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 16})");
    for (const Checkpoint* c : {&numbers, &kinds}) {
        const auto bytes = [&](double positions) {
            return kHalf * (3 * 8 * 16 + positions / 4 * (16 + 8) + positions / 16 * 16);
        };
        CHECK(cache_bytes(*c, 64) == bytes(64));
        CHECK(cache_bytes(*c, 6400) == bytes(6400));
        CHECK(archsim::bind(c->graph, Bindings{}, c->dims).complete());
    }
    CHECK(parameters(numbers) == parameters(kinds));
    // What a step attends to: the window everywhere, four chosen vectors, and all of the third layer's.
    const double wide = 4 * 2 * 16;
    CHECK(attention_macs(numbers, 6400 - 1) == Approx(wide * (3 * 8 + 4 + 400)).epsilon(0.01));
}

TEST_CASE("blocks that an index chooses bound what attention reads, not the cache", "[checkpoint]") {
    const Checkpoint c =
        decoder_of(kFourHeads + R"(, "model_type": "minimax_m3", "head_dim": 16, "num_hidden_layers": 3,
        "sparse_attention_config": {"use_sparse_attention": true, "sparse_index_dim": 8,
        "sparse_num_index_heads": 2, "sparse_topk_blocks": 3, "sparse_block_size": 16, "sparse_local_block": 1,
        "sparse_init_block": 0, "sparse_attention_freq": [0, 1, 1]})");
    CHECK(cache_bytes(c, 4096) == 4096 * kHalf * (3 * 2 * 2 * 16 + 2 * 8));
    const double wide = 4 * 2 * 16;
    CHECK(attention_macs(c, 4095) == Approx(wide * (4096 + 2 * 4 * 16)));
}

TEST_CASE("two attentions a layer have two caches, and experts that compute nothing a router's columns",
          "[checkpoint]") {
    const Checkpoint c = decoder_of(R"("model_type": "longcat_flash", "hidden_size": 64, "num_layers": 2,
        "num_attention_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 32, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "ffn_hidden_size": 128, "expert_ffn_hidden_size": 32,
        "n_routed_experts": 8, "zero_expert_num": 4, "moe_topk": 3)");
    CHECK(cache_bytes(c, 100) == 100 * kHalf * 2 * 2 * (32 + 8));
    const double attention = 64 * 16 + 16 + 16 * 4 * 24 + 64 * 40 + 32 + 32 * 4 * 32 + 4 * 16 * 64;
    const double layer = 2 * (attention + 3 * 64 * 128 + 2 * 64) + 8 * 3 * 64 * 32 + 64 * (8 + 4);
    CHECK(parameters(c) == 2 * 1000 * 64 + 64 + 2 * layer);
    CHECK(c.facts.active_experts == 2); // of three, one of three computes nothing
}

TEST_CASE("layers that run several times have caches for each pass and weights for one", "[checkpoint]") {
    const std::string fields = kFourHeads + R"(, "model_type": "ouro", "num_hidden_layers": 2)";
    const Checkpoint once = decoder_of(fields), four = decoder_of(fields + R"(, "total_ut_steps": 4)");
    CHECK(cache_bytes(four, 100) == 4 * cache_bytes(once, 100));
    CHECK(parameters(four) == parameters(once));
    CHECK(archsim::bind(four.graph, {}, four.dims).macs() >
          3.9 * archsim::bind(once.graph, {}, once.dims).macs() - 3 * 1000 * 64);
}

TEST_CASE("layers in groups: the last attends, the others keep a state", "[checkpoint]") {
    const std::string fields = R"("model_type": "bailing_hybrid", "hidden_size": 64, "num_hidden_layers": 9,
        "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "intermediate_size": 128,
        "layer_group_size": 4)";
    const Checkpoint delta = decoder_of(fields + R"(, "short_conv_kernel_size": 4, "no_kda_lora": true,
        "q_lora_rank": 16, "kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16)");
    // The ninth layer stands behind two whole groups.
    const double states = 6 * (4 * 16 * 16 * kFloat + 3 * 4 * 16 * 3 * kHalf);
    CHECK(cache_bytes(delta, 1000) == 3 * 1000 * 40 * kHalf + states);
    const Checkpoint linear = decoder_of(fields);
    CHECK(cache_bytes(linear, 1000) == 3 * 1000 * 2 * 4 * 16 * kHalf + 6 * 4 * 16 * 16 * kFloat);
}

TEST_CASE("gated recurrences keep a number per channel", "[checkpoint]") {
    const Checkpoint c =
        decoder_of(R"("model_type": "recurrent_gemma", "hidden_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 256,
        "lru_width": 64, "conv1d_width": 4, "attention_window_size": 32,
        "block_types": ["recurrent", "recurrent", "attention"],
        "_block_types": ["recurrent", "recurrent", "attention"])"); // the class's own spelling, written too
    CHECK(archsim::bind(c.graph, Bindings{}, c.dims).complete());
    CHECK(cache_bytes(c, 1000) == 32 * 2 * 16 * kHalf + 3 * (64 * kFloat + 3 * 64 * kHalf));
    const double mlp = 3 * 64 * 128 + 2 * 128 + 64, norms = 2 * 64;
    const double recurrent = 3 * 64 * 64 + 3 * 64 + 5 * 64 + 2 * (64 * 16 + 64) + 64,
                 attention = 64 * 64 + 2 * 64 * 16 + 64 * 64 + 64;
    CHECK(parameters(c) == 2 * 1000 * 64 + 64 + 4 * (mlp + norms) + 3 * recurrent + attention);
}

TEST_CASE("neighbours are mixed and a matrix per head is kept, at any length (RWKV-7)", "[checkpoint]") {
    // BlinkDL/rwkv-7-world, 1.5B (arXiv:2503.14456, table 13); ranks of its form in flash-linear-attention.
    const std::string fields =
                          R"({"model_type": "rwkv7", "hidden_size": 2048, "head_dim": 64, "num_heads": 32,
        "num_hidden_layers": 24, "intermediate_size": 8192, "hidden_ratio": 4.0, "hidden_act": "sqrelu",
        "vocab_size": 65536, "norm_first": true, "norm_bias": true, "attn": null, "attn_mode": "chunk",
        "tie_word_embeddings": false)",
                      ranks = R"(, "decay_low_rank_dim": 96, "a_low_rank_dim": 96, "v_low_rank_dim": 64,
        "gate_low_rank_dim": 256)";
    const Checkpoint c = read_checkpoint_config(fields + ranks + "}", "config.json");
    CHECK(archsim::bind(c.graph, Bindings{}, c.dims).complete());
    CHECK(parameters(c) == 1527404544);
    for (const int positions : {10, 10000}) // a state, and the last token in front of both halves
        CHECK(cache_bytes(c, positions) == 24 * (32 * 64 * 64 * kFloat + 2 * 2048 * kHalf));
    CHECK_THROWS_WITH(read_checkpoint_config(fields + "}", "config.json"),
                      Catch::Contains("ranks of decays"));
}

TEST_CASE("tables for groups of tokens lie in memory beside the model's own", "[checkpoint]") {
    // LongCat-Flash-Lite: (4 - 1) x 2 tables of 5 x 1000 rows that share the width of 96, and what widens
    // them.
    const std::string fields = R"({"model_type": "longcat_flash_ngram", "hidden_size": 96, "num_layers": 2,
        "num_attention_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 32, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "ffn_hidden_size": 128, "expert_ffn_hidden_size": 32,
        "n_routed_experts": 8, "zero_expert_num": 4, "moe_topk": 3, "vocab_size": 1000)";
    const Checkpoint plain = read_checkpoint_config(fields + "}", "config.json"),
                     grouped = read_checkpoint_config(fields + R"(, "ngram_vocab_size_ratio": 5,
        "emb_neighbor_num": 4, "emb_split_num": 2})",
                                                      "config.json");
    CHECK(archsim::bind(grouped.graph, Bindings{}, grouped.dims).complete());
    CHECK(parameters(grouped) - parameters(plain) == 6 * (5000 * 16 + 16 * 96));
    CHECK(cache_bytes(grouped, 100) == cache_bytes(plain, 100));
    CHECK_THAT(to_string(grouped.graph.findings.front()), Catch::Contains("look-ups are not priced"));
}

TEST_CASE("states stand beside attention, or between listed layers of it", "[checkpoint]") {
    const std::string mamba = R"(, "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16,
        "mamba_n_groups": 1, "mamba_d_conv": 4)";
    const double state = 8 * 16 * 16 * kHalf + 3 * (128 + 32) * kHalf, position = 2 * 2 * 16 * kHalf;
    const Checkpoint beside = decoder_of(kFourHeads + R"(, "model_type": "falcon_h1", "num_hidden_layers": 3,
        "mamba_d_ssm": 128, "mamba_rms_norm": false)" +
                                         mamba);
    CHECK(cache_bytes(beside, 100) == 3 * (100 * position + state));
    const Checkpoint listed = decoder_of(kFourHeads + R"(, "model_type": "bamba", "num_hidden_layers": 3,
        "attn_layer_indices": [1])" + mamba);
    CHECK(cache_bytes(listed, 100) == 100 * position + 2 * state);
    const Checkpoint wide = decoder_of(kFourHeads + R"(, "model_type": "bamba", "num_hidden_layers": 3,
        "attn_layer_indices": [1], "mamba_ssm_cache_dtype": "float32")" +
                                       mamba);
    CHECK(cache_bytes(wide, 100) == cache_bytes(listed, 100) + 2 * 8 * 16 * 16 * kHalf);
}

TEST_CASE("queries, MLPs and gates that one class has", "[checkpoint]") {
    const double table = 2 * 1000 * 64 + 64;
    // Step-3: narrow queries with a norm; layers with experts as a text of numbers.
    const Checkpoint step =
        decoder_of(R"("model_type": "step3_text", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_attention_groups": 1, "share_q_dim": 32, "head_dim": 16,
        "intermediate_size": 128, "moe_intermediate_size": 16, "share_expert_dim": 16, "moe_num_experts": 4,
        "moe_top_k": 2, "moe_layers_enum": "1")");
    CHECK(cache_bytes(step, 10) == 10 * 2 * 2 * 16 * kHalf);
    const double attention = 64 * 32 + 32 + 32 * 64 + 2 * 64 * 16 + 64 * 64;
    CHECK(parameters(step) == table + 2 * (attention + 2 * 64) + 3 * 64 * 128 + 5 * 3 * 64 * 16 + 64 * 4);
    // Arctic: a dense MLP as wide as the model beside the experts.
    const std::string experts = kFourHeads + R"(, "num_hidden_layers": 1, "num_local_experts": 4,
        "num_experts_per_tok": 2)";
    CHECK(parameters(decoder_of(experts + R"(, "model_type": "arctic", "parallel_attn_mlp_res": true)")) ==
          parameters(decoder_of(experts + R"(, "model_type": "arctic")")) + 3 * 64 * 64);
    // BitNet: a gate with an activation that goes without one elsewhere, and two more norms.
    const std::string squared = kFourHeads + R"(, "num_hidden_layers": 1, "hidden_act": "relu2")";
    CHECK(parameters(decoder_of(squared + R"(, "model_type": "bitnet")")) ==
          parameters(decoder_of(squared + R"(, "model_type": "llama")")) + 64 * 128 + 64 + 128);
}

TEST_CASE("a field that nobody reads withholds what rests on the model", "[checkpoint]") {
    const std::string fields = kFourHeads + R"(, "model_type": "llama", "num_hidden_layers": 2)";
    const auto complete = [&](const std::string& more) {
        const Checkpoint c = decoder_of(fields + more);
        return archsim::bind(c.graph, {}, c.dims).complete();
    };
    CHECK(complete(""));
    for (const char* harmless :
         {R"(, "rope_scaling": {"factor": 8.0})", R"(, "made_up_dropout": 3)", R"(, "made_up": false)",
          R"(, "made_up": "a_word")", R"(, "made_up": 0.5)", R"(, "made_up": [])", R"(, "made_up": null)",
          R"(, "temperature": 2.0, "torchscript": true, "fp16": true, "fuse_rms_norm": true)",
          R"(, "reorder_and_upcast_attn": true, "ssm_multipliers": [2.0, 3.0], "made_up_token_ids": [3])",
          // Of generation/configuration_utils.py, training_args.py and tokenization_utils_base.py of
          // transformers.
          R"(, "num_assistant_tokens": 20, "watermarking_config": {"a": 5}, "force_words_ids": [[1, 2]])",
          R"(, "global_batch_size": 1024, "fsdp_config": {"a": 2}, "tensor_model_parallel_size": 8)",
          R"(, "added_tokens_decoder": {"1": {}}, "model_input_names": ["a"], "use_made_up_kernel": true)"})
        CHECK(complete(harmless));
    for (const char* withheld :
         {R"(, "made_up": 3)", R"(, "made_up": true)", R"(, "made_up": [1])", R"(, "made_up": {"a": 1})",
          R"(, "made_up": "MEM*E")", R"(, "made_up": "1,2,3")", R"(, "made_up_expansion_factor": 4)",
          R"(, "made_up_dim_multiplier": 2.0)", R"(, "output_made_up": 64)",
          R"(, "made_up_heads_factor": 2.0)", R"(, "made_up_loops_scale": 4)"}) {
        INFO(withheld);
        CHECK_FALSE(complete(withheld));
        const Checkpoint c = decoder_of(fields + withheld);
        CHECK_THAT(to_string(c.graph.findings.front()), Catch::Contains("made_up"));
    }
}

TEST_CASE("parts around a decoder are counted wherever the file has them", "[checkpoint]") {
    const std::string text = "{" + kFourHeads + R"(, "model_type": "llama", "num_hidden_layers": 2,
        "vocab_size": 1000})",
                      tower = R"("vision_config": {"depth": 2, "hidden_size": 64, "patch_size": 14})",
                      kind = R"("architectures": ["XForConditionalGeneration"])";
    const auto read = [](const std::string& fields) {
        return read_checkpoint_config("{" + fields + "}", "config.json");
    };
    const Checkpoint plain = read(kind + ", " + tower + R"(, "text_config": )" + text);
    CHECK(plain.facts.vision_parameters > 0);
    for (const std::string& form :
         {R"("thinker_config": {"text_config": )" + text + ", " + tower + "}",
          tower + R"(, "llm_cfg": )" + text, R"("language_model": )" + text + ", " + tower}) {
        INFO(form);
        const Checkpoint other = read(kind + ", " + form);
        CHECK(parameters(other) == parameters(plain));
        CHECK(other.facts.vision_parameters == plain.facts.vision_parameters);
    }
    // Qwen2.5-Omni's class gives text although its name ends like that of an embedding.
    CHECK(parameters(read(R"("architectures": ["Qwen2_5OmniModel"], "thinker_config": {"text_config": )" +
                          text + ", " + tower + "}")) == parameters(plain));
}

TEST_CASE("a part of unknown size beside a decoder withholds, one that is named or small does not",
          "[checkpoint]") {
    const std::string text = R"("architectures": ["XForConditionalGeneration"], "text_config": {)" +
                             kFourHeads +
                             R"(, "model_type": "llama", "num_hidden_layers": 2, "vocab_size": 1000})";
    const auto with = [&](const std::string& part) {
        return read_checkpoint_config("{" + text + ", " + part + "}", "config.json");
    };
    const auto complete = [](const Checkpoint& c) { return archsim::bind(c.graph, {}, c.dims).complete(); };
    const Checkpoint named = with(R"("vision_config": {"architecture": "mobilenetv5_300m_enc"})");
    CHECK(complete(named));
    CHECK(named.facts.vision_parameters == 294284096);
    CHECK_FALSE(complete(with(R"("vision_config": {"model_name": "made_up_encoder"})")));
    const std::string tower = R"("vision_config": {"depth": 2, "hidden_size": 64, "patch_size": 14}, )";
    CHECK(complete(with(tower + R"("projector_config": {"input_dim": 64, "n_embed": 64})")));
    CHECK_FALSE(complete(with(tower + R"("audio_config": {"made_up_width": 4096, "steps": 512})")));
    const Checkpoint sound =
        with(tower + R"("audio_config": {"conf_num_hidden_layers": 3, "hidden_size": 128})");
    CHECK(complete(sound));
    CHECK(sound.facts.vision_parameters - with(tower + R"("a": 0)").facts.vision_parameters ==
          3 * 24 * 128 * 128);
}

TEST_CASE("layers with experts end where the file says", "[checkpoint]") {
    const std::string experts = kFourHeads + R"(, "num_hidden_layers": 4, "moe_num_experts": 4, "moe_k": 2,
        "moe_intermediate_size": 32, "moe_layer_start_index": 1)";
    const auto with_end = [&](int end) {
        return parameters(decoder_of(experts + R"(, "moe_layer_end_index": )" + std::to_string(end)));
    };
    CHECK(with_end(-1) == with_end(3));
    CHECK(with_end(2) == parameters(decoder_of(experts + R"(, "is_moe_layer": [false, true, true, false])")));
}

TEST_CASE("heads of layers with a window, and layers with experts, in the words of others", "[checkpoint]") {
    const std::string kinds = kFourHeads + R"(, "num_hidden_layers": 2, "sliding_window": 8,
        "layer_types": ["full_attention", "sliding_attention"], )";
    CHECK(parameters(decoder_of(kinds + R"("model_type": "step3p5", "attention_other_setting":
        {"attention_type": "sliding_attention", "num_attention_heads": 8, "num_attention_groups": 2,
         "head_dim": 16})")) ==
          parameters(decoder_of(kinds + R"("model_type": "step3p5", "swa_num_attention_heads": 8,
        "swa_num_key_value_heads": 2, "swa_head_dim": 16)")));
    const std::string experts = kFourHeads + R"(, "num_hidden_layers": 2, "num_experts": 4,
        "num_experts_per_tok": 2, "moe_intermediate_size": 32, )";
    CHECK(parameters(decoder_of(experts + R"("is_moe_layer": [false, true])")) ==
          parameters(decoder_of(experts + R"("mlp_layer_types": ["dense", "sparse"])")));
    // Grok: a dense MLP beside the experts of a layer.
    CHECK(parameters(decoder_of(experts + R"("residual_moe": true)")) ==
          parameters(decoder_of(experts + R"("enable_moe_block": true)")));
}

TEST_CASE("sizes that stand above a language model's own change nothing", "[checkpoint]") {
    const std::string text = kFourHeads + R"(, "model_type": "llama", "num_hidden_layers": 2)";
    const Checkpoint c = decoder_of(R"("model_type": "llava", "num_hidden_layers": 2, "text_config": {)" +
                                    text + R"(, "vocab_size": 1000})");
    CHECK(archsim::bind(c.graph, {}, c.dims).complete());
    CHECK(parameters(c) == parameters(decoder_of(text)));
}

TEST_CASE("classes without a head of tokens are answered as what they are", "[checkpoint]") {
    const auto with_class = [](const std::string& name, const std::string& more = "") {
        return decoder_of(kFourHeads +
                          R"(, "model_type": "llama", "num_hidden_layers": 2, "architectures": [")" + name +
                          "\"]" + more);
    };
    const double whole = parameters(with_class("LlamaForCausalLM")), head = 1000 * 64;
    CHECK(parameters(with_class("LlamaForSequenceClassification", R"(, "num_labels": 3)")) ==
          whole - head + 3 * 64);
    CHECK(parameters(with_class("LlamaForSequenceClassification", R"(, "id2label": {"0": "a"})")) ==
          whole - head + 64);
    CHECK(parameters(with_class("LlamaRewardModel")) == whole - head + 64);
    CHECK(parameters(with_class("LlamaModel")) == whole - head);
    CHECK(parameters(with_class("ColQwen3")) == whole - head);
    CHECK(parameters(with_class("UltravoxModel")) == whole);
    for (const char* name : {"LlamaForSequenceClassification", "LlamaModel"}) {
        const Checkpoint c = with_class(name);
        CHECK(c.graph.inputs.size() == 1); // no cache
        CHECK(archsim::bind(c.graph, {}, c.dims).complete());
    }
    for (const char* drafter : {"LlamaForCausalLMEagle3", "DFlashDraftModel", "MedusaModel", "Qwen3NextMTP",
                                "Gemma4AssistantForCausalLM"})
        CHECK_THROWS_WITH(with_class(drafter), Catch::Contains("drafts tokens for another model"));
    CHECK_THROWS_WITH(with_class("LlamaForCausalLM", R"(, "draft_vocab_size": 500)"),
                      Catch::Contains("--drafted"));
}
