// Attention against counts done by hand.

#include "ops/common.hpp"
#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>
#include <optional>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("a causal mask leaves half the scores and the diagonal", "[ops]") {
    AttentionSizes s;
    s.query_length = s.kv_length = 10;
    CHECK(attended_pairs(s) == 100);
    s.causal = true;
    CHECK(attended_pairs(s) == 55);
    s.window = 3; // 1 + 2 + 8 x 3
    CHECK(attended_pairs(s) == 27);
}

TEST_CASE("new tokens see the whole past", "[ops]") {
    AttentionSizes s;
    s.query_length = 2;
    s.kv_length = 12;
    s.causal = true;
    s.causal_offset = 10;
    CHECK(attended_pairs(s) == 11 + 12);
    s.window = 4;
    CHECK(attended_pairs(s) == 8);
}

TEST_CASE("grouped queries share keys", "[ops]") {
    GraphMaker g;
    const auto q = g.input("q", {1, 16, 8 * 32}), k = g.input("k", {1, 16, 2 * 32}),
               v = g.input("v", {1, 16, 2 * 32});
    const auto pk = g.input("pk", {1, 2, 0, 32}), pv = g.input("pv", {1, 2, 0, 32});
    const auto lengths = g.ints("seqlens", {15});
    const auto total = g.ints("total", {16}, true);
    auto& node = g.node("GroupQueryAttention", {q, k, v, pk, pv, lengths, total},
                        {g.output("y"), g.output("present_key"), g.output("present_value")}, "com.microsoft");
    node.attributes = {{"num_heads", std::int64_t{8}}, {"kv_num_heads", std::int64_t{2}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 16, 256});
    CHECK(s.tensors[s.outputs[1]].shape == Shape{1, 2, 16, 32});
    CHECK(s.tensors[s.outputs[1]].kv_cache);
    CHECK(s.tensors[pk].kv_cache);
    const OperatorWork& work = operator_of(s, "com.microsoft.GroupQueryAttention").work;
    const double pairs = 16 * 17 / 2;
    CHECK(work.macs == 2 * 8 * pairs * 32);
    REQUIRE(work.contractions.size() == 2);
    CHECK(work.contractions[0].groups == 2);
    CHECK(work.contractions[0].m == 16 * 4);
    CHECK(work.contractions[0].n == pairs / 16);
    CHECK_FALSE(work.contractions[0].weights_constant);
    CHECK(work.attention->causal);
    CHECK(work.attention->kv_heads == 2);
}

TEST_CASE("decoding one token reads the cache and appends to it", "[ops]") {
    GraphMaker g;
    const auto q = g.input("q", {2, 1, 8 * 64}), k = g.input("k", {2, 1, 8 * 64}),
               v = g.input("v", {2, 1, 8 * 64});
    const auto pk = g.input("pk", {2, 8, 99, 64}), pv = g.input("pv", {2, 8, 99, 64});
    auto& node = g.node("MultiHeadAttention", {q, k, v, kNoTensor, kNoTensor, kNoTensor, pk, pv},
                        {g.output("y"), g.output("present_key"), g.output("present_value")}, "com.microsoft");
    node.attributes = {{"num_heads", std::int64_t{8}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[1]].shape == Shape{2, 8, 100, 64});
    const OperatorWork& work = operator_of(s, "com.microsoft.MultiHeadAttention").work;
    CHECK(work.macs == 2.0 * 2 * 8 * 100 * 64);
    REQUIRE(work.partial_writes.size() == 2);
    CHECK(work.partial_writes[0] == std::pair<std::uint16_t, double>{1, 2 * 8 * 64});
}

TEST_CASE("attention with its projection counts both", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("Attention", {g.input("x", {2, 128, 768}), g.weight("w", {768, 2304}), g.weight("b", {2304})},
               {g.output("y")}, "com.microsoft");
    node.attributes = {{"num_heads", std::int64_t{12}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    const OperatorWork& work = operator_of(s, "com.microsoft.Attention").work;
    CHECK(work.macs == 2.0 * 128 * 768 * 2304 + 2.0 * 2 * 12 * 128 * 128 * 64);
    CHECK(work.contractions.size() == 3);
    CHECK(work.contractions[0].weights_constant);
}

TEST_CASE("the ONNX operator with packed heads", "[ops]") {
    GraphMaker g(23);
    const auto q = g.input("q", {1, 6, 4 * 8}), k = g.input("k", {1, 6, 2 * 8}),
               v = g.input("v", {1, 6, 2 * 10});
    auto& node = g.node("Attention", {q, k, v}, {g.output("y")});
    node.attributes = {
        {"q_num_heads", std::int64_t{4}}, {"kv_num_heads", std::int64_t{2}}, {"is_causal", std::int64_t{1}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 6, 40});
    CHECK(operator_of(s, "Attention").work.macs == 4 * 21 * (8 + 10));
}

TEST_CASE("keys in a buffer of fixed length are attended as far as they are valid", "[ops]") {
    const auto macs = [](std::int64_t queries, std::int64_t buffer, std::optional<std::int64_t> valid,
                         bool causal) {
        GraphMaker g(24);
        const auto q = g.input("q", {1, 4, queries, 8}), k = g.input("k", {1, 4, buffer, 8}),
                   v = g.input("v", {1, 4, buffer, 8});
        const auto length = valid ? g.ints("length", {*valid}) : g.input("length", {1}, DataType::int64);
        auto& node = g.node("Attention", {q, k, v, kNoTensor, kNoTensor, kNoTensor, length}, {g.output("y")});
        node.attributes = {{"is_causal", std::int64_t{causal}}};
        const ShapedGraph s = bound(g);
        REQUIRE(s.complete());
        return s.macs();
    };
    constexpr double kEach = 4 * (8 + 8); // of a query and a key
    CHECK(macs(1, 4096, {}, true) == 4096 * kEach);
    CHECK(macs(1, 4096, {}, false) == 4096 * kEach);
    CHECK(macs(1, 4096, 1000, true) == 1000 * kEach);
    CHECK(macs(1, 4096, 1000, false) == 1000 * kEach);
    CHECK(macs(512, 4096, 2048, true) == (512 * 1536 + 512 * 513 / 2) * kEach);
}
