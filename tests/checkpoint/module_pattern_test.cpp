// Names of modules as authors write them, held against those of our graphs.

#include "checkpoint/parameters.hpp"

#include <catch2/catch.hpp>

using archsim::checkpoint::ModulePattern;
using archsim::test::names_module;

TEST_CASE("authors' names of modules stand for ours", "[checkpoint]") {
    const char *experts = "model.layers.3.mlp.experts.w1", *up = "model.layers.3.mlp.up_proj",
               *q = "model.layers.3.self_attn.q_proj", *shared = "model.layers.3.mlp.shared_experts.up_proj",
               *in = "model.layers.3.mixer.in_proj";
    for (const char* pattern :
         {"layers.3.ffn.experts", "model.layers.3.block_sparse_moe.experts",
          "layers.3.feed_forward.experts.*", "language_model.model.layers.3.block_sparse_moe.experts.17.w1",
          "backbone.layers.3.mixer.experts.0.up_proj",
          "model.language_model.layers.3.mlp.experts.5.gate_proj", "re:.*ffn.*(gate|up|down)_proj$",
          R"(re:.*block_sparse_moe\.experts\.\d+\.w1)",
          R"(re:^model\.language_model\.layers\.3\.mlp\.experts\..*)"}) {
        INFO(pattern);
        CHECK(names_module(pattern, experts));
    }
    CHECK_FALSE(names_module("layers.4.ffn.experts", experts));
    CHECK_FALSE(names_module("layers.3.ffn.shared_experts", experts));
    CHECK_FALSE(names_module("layers.3.ffn.experts.2.w2", experts));
    CHECK_FALSE(names_module(R"(re:.*mlp\.(gate|up|gate_up|down)_proj.*)", experts));
    CHECK(names_module(R"(re:.*mlp\.(gate|up|gate_up|down)_proj.*)", up));
    CHECK(names_module("*.ffn.*", up));
    CHECK(names_module("layers.3.feed_forward.w3", up));
    CHECK(names_module("model.layers.3.mlp.gate_up_proj", up));
    CHECK(names_module("model.layers.*.mlp.shared_expert*", shared));
    CHECK(names_module("*.ffn.shared_experts.*", shared));
    CHECK(names_module("re:.*ffn.*(gate|up|down)_proj$", shared));
    CHECK(names_module("*.attn.*", q));
    CHECK(names_module("backbone.layers.3.mixer.q_proj", q));
    CHECK(names_module("model.layers.3.self_attn.qkv_proj", q));
    CHECK(names_module("re:.*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$", "model.layers.3.self_attn.q_b_proj"));
    CHECK(names_module("re:.*attn.*(fused_wqa_wkv|wq_b|wo_a|wo_b)$", "model.layers.3.self_attn.o_a_proj"));
    CHECK(names_module("model.layers.3.self_attn.q_proj", "model.layers.3.self_attn.q_gate"));
    CHECK(names_module("backbone.layers.3.mixer.in_proj", in));
    CHECK_FALSE(names_module("backbone.layers.3.mixer.out_proj", in));
}

TEST_CASE("patterns of single experts are one for all of them", "[checkpoint]") {
    const ModulePattern first("model.layers.3.mlp.experts.0.w1"), last("model.layers.3.mlp.experts.127.w1");
    CHECK(first.key() == last.key());
    CHECK(first.key() != ModulePattern("model.layers.3.mlp.experts.0.w2").key());
    CHECK(first.key() != ModulePattern("model.layers.13.mlp.experts.0.w1").key());
}
