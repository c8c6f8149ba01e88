// Work of contractions against counts done by hand.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

double contraction_macs(const OperatorWork& work) {
    double total = 0;
    for (const Contraction& c : work.contractions)
        total += c.macs();
    return total;
}

} // namespace

TEST_CASE("a grouped convolution multiplies each output by its group's channels", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {2, 8, 10, 12});
    const auto w = g.weight("w", {6, 4, 3, 5});
    const auto b = g.weight("b", {6});
    auto& node = g.node("Conv", {x, w, b}, {g.output("y")});
    node.attributes = {{"group", std::int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 2, 1, 2}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{2, 6, 5, 12});
    const OperatorWork& work = operator_of(s, "Conv").work;
    CHECK(work.macs == 2.0 * 6 * 5 * 12 * 4 * 3 * 5);
    CHECK(contraction_macs(work) == work.macs);
    REQUIRE(work.contractions.size() == 1);
    CHECK(work.contractions[0].groups == 2);
    CHECK(work.contractions[0].m == 2 * 5 * 12);
    CHECK(work.contractions[0].n == 3);
    CHECK(work.contractions[0].k == 3 * 5 * 4);
    CHECK(work.vector_ops == 2 * 6 * 5 * 12); // the bias
    CHECK(work.window->stride == std::array<double, 3>{1, 2, 1});
    CHECK(s.parameters() == 6 * 4 * 3 * 5 + 6);
}

TEST_CASE("a depthwise convolution has one input channel per group", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("Conv", {g.input("x", {1, 32, 56, 56}), g.weight("w", {32, 1, 3, 3})}, {g.output("y")});
    node.attributes = {{"group", std::int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}};
    const OperatorWork work = operator_of(bound(g), "Conv").work;
    CHECK(work.macs == 32.0 * 56 * 56 * 9);
    CHECK(work.contractions[0].n == 1);
    CHECK(work.contractions[0].k == 9);
}

TEST_CASE("convolutions of one and three dimensions", "[ops]") {
    GraphMaker one;
    one.node("Conv", {one.input("x", {1, 4, 100}), one.weight("w", {8, 4, 5})}, {one.output("y")});
    CHECK(operator_of(bound(one), "Conv").work.macs == 8.0 * 96 * 4 * 5);
    GraphMaker three;
    auto& node = three.node("Conv", {three.input("x", {1, 3, 8, 16, 16}), three.weight("w", {4, 3, 3, 3, 3})},
                            {three.output("y")});
    node.attributes = {{"dilations", Ints{1, 2, 2}}};
    const ShapedGraph s = bound(three);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 4, 6, 12, 12});
    CHECK(operator_of(s, "Conv").work.macs == 4.0 * 6 * 12 * 12 * 3 * 27);
}

TEST_CASE("a transposed convolution multiplies every input pixel by every tap", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("ConvTranspose", {g.input("x", {1, 6, 10, 10}), g.weight("w", {6, 4, 2, 2})}, {g.output("y")});
    node.attributes = {{"strides", Ints{2, 2}}, {"group", std::int64_t{2}}};
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 8, 20, 20});
    const OperatorWork& work = operator_of(s, "ConvTranspose").work;
    CHECK(work.macs == 10.0 * 10 * 6 * 4 * 4);
    CHECK(contraction_macs(work) == work.macs);
    CHECK(work.window->transposed);
}

TEST_CASE("Gemm with a transposed weight", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("Gemm", {g.input("a", {5, 7}), g.weight("b", {11, 7}), g.weight("c", {11})}, {g.output("y")});
    node.attributes = {{"transB", std::int64_t{1}}};
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{5, 11});
    const OperatorWork& work = operator_of(s, "Gemm").work;
    CHECK(work.macs == 5 * 7 * 11);
    CHECK(work.contractions[0].weights_constant);
    CHECK(work.vector_ops == 5 * 11);
}

TEST_CASE("batch axes join the rows of a product with one weight", "[ops]") {
    GraphMaker g;
    g.node("MatMul", {g.input("a", {2, 3, 5, 7}), g.weight("b", {7, 11})}, {g.output("y")});
    const Contraction c = operator_of(bound(g), "MatMul").work.contractions[0];
    CHECK(c.groups == 1);
    CHECK(c.m == 2 * 3 * 5);
    CHECK(c.n == 11);
    CHECK(c.weights_constant);
}

TEST_CASE("products of two activations stay separate per batch", "[ops]") {
    GraphMaker g;
    g.node("MatMul", {g.input("a", {2, 3, 5, 7}), g.input("b", {2, 3, 7, 11})}, {g.output("y")});
    const Contraction c = operator_of(bound(g), "MatMul").work.contractions[0];
    CHECK(c.groups == 6);
    CHECK(c.m == 5);
    CHECK_FALSE(c.weights_constant);
}

TEST_CASE("a weight on the left is the weight", "[ops]") {
    GraphMaker g;
    g.node("MatMul", {g.weight("a", {5, 7}), g.input("b", {4, 7, 11})}, {g.output("y")});
    const Contraction c = operator_of(bound(g), "MatMul").work.contractions[0];
    CHECK(c.groups == 1);
    CHECK(c.m == 4 * 11);
    CHECK(c.n == 5);
    CHECK(c.weights_constant);
}

TEST_CASE("Einsum contracts pairwise", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("Einsum", {g.input("q", {2, 10, 4, 8}), g.input("k", {2, 12, 4, 8})}, {g.output("y")});
    node.attributes = {{"equation", std::string("bqhd,bkhd->bhqk")}};
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{2, 4, 10, 12});
    const OperatorWork& work = operator_of(s, "Einsum").work;
    CHECK(work.macs == 2.0 * 4 * 10 * 12 * 8);
    CHECK(work.contractions[0].groups == 8);
    CHECK(work.contractions[0].m == 10);
    CHECK(work.contractions[0].n == 12);
    CHECK(work.contractions[0].k == 8);
}

TEST_CASE("an LSTM is one projection and a chain of small products", "[ops]") {
    GraphMaker g;
    auto& node =
        g.node("LSTM", {g.input("x", {20, 3, 64}), g.weight("w", {2, 512, 64}), g.weight("r", {2, 512, 128})},
               {g.output("y")});
    node.attributes = {{"hidden_size", std::int64_t{128}}, {"direction", std::string("bidirectional")}};
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{20, 2, 3, 128});
    const OperatorWork& work = operator_of(s, "LSTM").work;
    CHECK(work.macs == 2.0 * 20 * 3 * 512 * 64 + 2.0 * 20 * 3 * 512 * 128);
    CHECK(contraction_macs(work) == work.macs);
    CHECK(work.serial_steps == 20);
    CHECK(work.contractions[0].m == 60);
    CHECK(work.contractions[1].m == 3);
}

TEST_CASE("experts: k per token, weights of the active ones", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {1, 3, 16});
    const auto router = g.input("router", {3, 8});
    const auto first = g.weight("fc1", {8, 32, 16}), second = g.weight("fc2", {8, 16, 32});
    auto& node = g.node("MoE", {x, router, first, kNoTensor, second}, {g.output("y")}, "com.microsoft");
    node.attributes = {{"k", std::int64_t{2}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    const OperatorWork& work = operator_of(s, "com.microsoft.MoE").work;
    CHECK(work.serial_steps == 5); // choice, order, two products, sum
    CHECK(work.macs == 3.0 * 2 * 16 * 32 * 2);
    CHECK(contraction_macs(work) == work.macs);
    REQUIRE(work.partial_reads.size() == 2);
    CHECK(work.partial_reads[0].first == 2);
    CHECK(work.partial_reads[0].second == Approx(4.625 * 32 * 16)); // 8 (1 - 0.75^3) experts on average
    CHECK(s.parameters() == 2 * 8 * 32 * 16);
}

TEST_CASE("four-bit weights count as values and cost their bytes", "[ops]") {
    GraphMaker g;
    const auto b = g.weight("b", {64, 4, 16}, DataType::uint8); // N=64, K=128, block 32: 16 bytes a block
    auto& node = g.node("MatMulNBits", {g.input("a", {2, 128}), b, g.weight("s", {64, 4})}, {g.output("y")},
                        "com.microsoft");
    node.attributes = {{"K", std::int64_t{128}},
                       {"N", std::int64_t{64}},
                       {"bits", std::int64_t{4}},
                       {"block_size", std::int64_t{32}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(operator_of(s, "com.microsoft.MatMulNBits").work.macs == 2 * 128 * 64);
    CHECK(s.parameters() == 64 * 128);
    CHECK(s.tensors[b].elements() * s.tensors[b].stored_bits() / 8 == 64 * 128 / 2);
}
