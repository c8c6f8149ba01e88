// What a quantised graph says about formats, and what counts as a parameter of it.

#include "ops/graph_maker.hpp"
#include "ops/precision_mix.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// x -> Q -> DQ -> Conv(DQ(int8 weights)) -> Relu; only the convolution lies between quantised operands.
ShapedGraph quantised_convolution() {
    GraphMaker g;
    const auto x = g.input("x", {1, 4, 8, 8});
    const auto scale = g.weight("scale", {}), zero = g.weight("zero", {}, DataType::uint8);
    const auto q = g.intermediate("q"), d = g.intermediate("d"), w = g.intermediate("w");
    const auto c = g.intermediate("c");
    g.node("QuantizeLinear", {x, scale, zero}, {q});
    g.node("DequantizeLinear", {q, scale, zero}, {d});
    g.node("DequantizeLinear", {g.weight("w8", {16, 4, 3, 3}, DataType::int8), g.weight("ws", {})}, {w});
    g.node("Conv", {d, w}, {c});
    g.node("Relu", {c}, {g.output("y")});
    return bound(g);
}

} // namespace

TEST_CASE("operators between quantised operands run in the quantised format", "[ops][quantised]") {
    const ShapedGraph s = quantised_convolution();
    REQUIRE(s.complete());
    CHECK(declared_format(s, operator_of(s, "Conv")) == "int8");
    CHECK(declared_format(s, operator_of(s, "Relu")) == "fp32");
    CHECK(is_quantized(s));
    const auto mix = precision_mix(s);
    REQUIRE(mix.size() == 2);
    CHECK(mix[0].format == "int8");
    CHECK(mix[0].macs == 6 * 6 * 16 * 4 * 9);
    CHECK(mix[0].operators == 1);
    CHECK(mix[1].format == "fp32");
    double operations = 0;
    for (const FormatShare& share : mix)
        operations += share.operations;
    CHECK(operations == s.operations());
    const auto weights = weight_mix(s);
    REQUIRE(weights.size() == 1);
    CHECK(weights[0].bits == 8);
    CHECK(weights[0].parameters == s.parameters());
}

TEST_CASE("block-quantised weights are counted at their packed width", "[ops][quantised]") {
    GraphMaker g;
    const auto x = g.input("x", {1, 64}, DataType::float16);
    auto& node =
        g.node("MatMulNBits",
               {x, g.weight("wq", {32, 2, 16}, DataType::uint8), g.weight("ws", {64}, DataType::float16)},
               {g.output("y")}, "com.microsoft");
    node.attributes = {{"K", std::int64_t{64}},
                       {"N", std::int64_t{32}},
                       {"bits", std::int64_t{4}},
                       {"block_size", std::int64_t{32}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.parameters() == 64 * 32);
    const auto weights = weight_mix(s);
    REQUIRE(weights.size() == 1);
    CHECK(weights[0].bits == 4);
    CHECK(weights[0].parameters == 64 * 32);
    CHECK(is_quantized(s));
    CHECK(declared_format(s, operator_of(s, "com.microsoft.MatMulNBits")) == "fp16");
}

TEST_CASE("a floating graph has one format and is not quantised", "[ops][quantised]") {
    GraphMaker g;
    g.node("MatMul", {g.input("x", {2, 8}), g.weight("w", {8, 8})}, {g.output("y")});
    const ShapedGraph s = bound(g);
    CHECK_FALSE(is_quantized(s));
    const auto mix = precision_mix(s);
    REQUIRE(mix.size() == 1);
    CHECK(mix[0].format == "fp32");
    CHECK(weight_mix(s)[0].bits == 32);
}

TEST_CASE("weights that nothing reads are no parameters", "[ops]") {
    GraphMaker g;
    g.weight("left over", {1000});
    g.node("MatMul", {g.input("x", {2, 8}), g.weight("w", {8, 8})}, {g.output("y")});
    CHECK(bound(g).parameters() == 64);
}

TEST_CASE("tables of rotary positions are no parameters", "[ops]") {
    const bool contrib = GENERATE(false, true);
    GraphMaker g(23);
    const auto x = g.input("x", {1, 6, 64}), cos = g.weight("cos", {128, 8}), sin = g.weight("sin", {128, 8});
    const auto positions = g.input("positions", {1, 6}, DataType::int64);
    auto& node = contrib
                     ? g.node("RotaryEmbedding", {x, positions, cos, sin}, {g.output("y")}, "com.microsoft")
                     : g.node("RotaryEmbedding", {x, cos, sin, positions}, {g.output("y")});
    node.attributes = {{"num_heads", std::int64_t{4}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.parameters() == 0);
}
