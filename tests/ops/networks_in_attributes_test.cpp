// Networks that run beside the graph's own line: what computes a condition, and what searches hold in their
// attributes.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

constexpr std::int64_t kVocabulary = 1000, kWidth = 64;
constexpr double kWeights = 2.0 * kVocabulary * kWidth + 2 * kWidth * kWidth;

/// ids -> embedding -> two products -> logits.
std::shared_ptr<const Graph> small_language_model() {
    GraphMaker b;
    const auto ids = b.symbolic_input("ids", {{-1, "batch"}, {-1, "seq"}});
    b.graph.tensors[ids].type = DataType::int64;
    const auto embedded = b.intermediate("e"), one = b.intermediate("h1"), two = b.intermediate("h2");
    b.node("Gather", {b.weight("embedding", {kVocabulary, kWidth}), ids}, {embedded});
    b.node("MatMul", {embedded, b.weight("w1", {kWidth, kWidth})}, {one});
    b.node("MatMul", {one, b.weight("w2", {kWidth, kWidth})}, {two});
    b.node("MatMul", {two, b.weight("head", {kWidth, kVocabulary})}, {b.output("logits")});
    return std::make_shared<const Graph>(b.graph);
}

/// A search over prompts of `length` tokens up to `longest`.
ShapedGraph search(const std::string& type, std::int64_t length, std::int64_t longest, std::int64_t beams,
                   bool encodes) {
    GraphMaker g;
    const auto ids = g.input("input_ids", {1, length}, DataType::int32);
    std::vector<TensorId> inputs = {ids, g.ints("max_length", {longest}), kNoTensor};
    if (type == "BeamSearch") {
        inputs.push_back(g.ints("num_beams", {beams}));
        inputs.push_back(g.ints("returned", {1}));
    }
    auto& node = g.node(type, inputs, {g.output("sequences")}, "com.microsoft");
    node.attributes = {{"decoder", small_language_model()}};
    if (encodes)
        node.attributes.emplace_back("encoder", small_language_model());
    return bound(g);
}

double pass_macs(double tokens) {
    return tokens * (2.0 * kWidth * kWidth + double(kWidth) * kVocabulary);
}

} // namespace

TEST_CASE("the network that computes the condition of an If runs whichever branch is taken", "[ops]") {
    for (const bool chosen : {false, true}) {
        GraphMaker g;
        const auto x = g.input("x", {1, 256});
        const auto a = g.intermediate("a"), p = g.intermediate("p"), c = g.intermediate("c");
        g.node("MatMul", {x, g.weight("W", {256, 256})}, {a});
        g.node("MatMul", {a, g.weight("V", {256, 1})}, {p});
        g.node("Greater", {p, g.weight("zero", {1, 1})}, {c});
        GraphMaker then;
        const auto inner = then.intermediate("x");
        then.graph.captured = {{inner, "x"}};
        then.node("MatMul", {inner, then.weight("S", {256, 4})}, {then.output("t")});
        GraphMaker otherwise;
        otherwise.graph.outputs.push_back(otherwise.weight("e", {1, 4}));
        auto& node = g.node("If", {c}, {g.output("y")});
        node.name = "choice";
        node.attributes = {{"then_branch", std::make_shared<const Graph>(then.graph)},
                           {"else_branch", std::make_shared<const Graph>(otherwise.graph)}};
        Bindings bindings;
        if (chosen)
            bindings.dims["choice"] = 0; // the constant: nothing but the condition is left
        const ShapedGraph s = bound(g, bindings);
        REQUIRE(s.complete());
        CHECK(s.macs() == 256 * 256 + 256 + (chosen ? 0 : 256 * 4));
    }
}

TEST_CASE("the network that computes the condition of a loop runs with it", "[ops]") {
    GraphMaker b;
    b.input("i", {}, DataType::int64);
    b.input("go", {}, DataType::boolean);
    const auto h = b.input("h", {1, 8});
    const auto score = b.intermediate("score");
    b.node("MatMul", {h, b.weight("judge", {8, 1})}, {score});
    b.node("Greater", {score, b.weight("zero", {1, 1})}, {b.output("again")});
    b.node("Identity", {h}, {b.output("h_out")});
    for (const std::int64_t trips : {4, 500}) {
        GraphMaker g;
        auto& node =
            g.node("Loop", {g.ints("M", {trips}, true), kNoTensor, g.input("h0", {1, 8})}, {g.output("h")});
        node.attributes = {{"body", std::make_shared<const Graph>(b.graph)}};
        const ShapedGraph s = bound(g);
        REQUIRE(s.complete());
        CHECK(s.macs() == 8.0 * static_cast<double>(trips));
    }
}

TEST_CASE("an If that an input decides offers that input", "[ops]") {
    GraphMaker g;
    const auto rate = g.input("sr", {}, DataType::int64);
    const auto x = g.input("x", {1, 16});
    const auto is = g.intermediate("is");
    g.node("Equal", {rate, g.ints("rate", {16000}, true)}, {is});
    GraphMaker branch;
    const auto inner = branch.intermediate("x");
    branch.graph.captured = {{inner, "x"}};
    branch.node("Relu", {inner}, {branch.output("t")});
    const auto body = std::make_shared<const Graph>(branch.graph);
    auto& node = g.node("If", {is}, {g.output("y")});
    node.attributes = {{"then_branch", body}, {"else_branch", body}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.findings.size() == 1);
    CHECK_THAT(s.findings[0].hint, Catch::Contains("--input sr="));
    CHECK(x != kNoTensor);
}

TEST_CASE("a branch that does not take the sizes is not counted, and no error", "[ops]") {
    for (const bool swapped : {false, true}) {
        GraphMaker g;
        g.input("x", {1, 16});
        const auto body = [](std::int64_t inner) {
            GraphMaker b;
            const auto x = b.intermediate("x");
            b.graph.captured = {{x, "x"}};
            b.node("MatMul", {x, b.weight("w", {inner, 8})}, {b.output("t")});
            return std::make_shared<const Graph>(b.graph);
        };
        auto& node = g.node("If", {g.input("c", {}, DataType::boolean)}, {g.output("y")});
        node.attributes = {{"then_branch", body(swapped ? 99 : 16)},
                           {"else_branch", body(swapped ? 16 : 99)}};
        const ShapedGraph s = bound(g);
        CHECK(s.complete());
        CHECK(s.macs() == 16 * 8);
    }
}

TEST_CASE("searches count the networks in their attributes", "[ops]") {
    const ShapedGraph t5 = search("BeamSearch", 16, 11, 4, true);
    REQUIRE(t5.complete());
    CHECK(t5.parameters() == 2 * kWeights);
    // The encoder reads 16 tokens; 10 more than the first are decoded, each by 4 beams.
    CHECK(t5.macs() == pass_macs(16) + pass_macs(10 * 4));
    CHECK(t5.tensors[t5.outputs[0]].shape == Shape{1, 1, 11});

    const ShapedGraph greedy = search("GreedySearch", 16, 20, 1, false);
    REQUIRE(greedy.complete());
    CHECK(greedy.parameters() == kWeights);
    CHECK(greedy.macs() == pass_macs(16) + pass_macs(3)); // the prompt's pass yields the first of 4
    CHECK(search("Sampling", 16, 20, 1, false).macs() == greedy.macs());
}

TEST_CASE("networks of a search without sizes hold their weights", "[ops]") {
    GraphMaker g;
    const auto ids = g.symbolic_input("input_ids", {{1, ""}, {-1, "seq"}});
    g.graph.tensors[ids].type = DataType::int32;
    auto& node =
        g.node("GreedySearch", {ids, g.ints("max_length", {20})}, {g.output("sequences")}, "com.microsoft");
    node.attributes = {{"decoder", small_language_model()}};
    const ShapedGraph s = bound(g);
    REQUIRE_FALSE(s.complete());
    CHECK(s.parameters() == kWeights);
    CHECK_THAT(s.findings[0].hint, Catch::Contains("--dim seq="));
}

TEST_CASE("a search whose length nobody gives asks for it", "[ops]") {
    GraphMaker g;
    const auto ids = g.input("input_ids", {1, 4}, DataType::int32);
    const auto longest = g.input("max_length", {1}, DataType::int32);
    auto& node = g.node("GreedySearch", {ids, longest}, {g.output("sequences")}, "com.microsoft");
    node.attributes = {{"decoder", small_language_model()}};
    const ShapedGraph s = bound(g);
    REQUIRE_FALSE(s.complete());
    CHECK_THAT(s.findings[0].hint, Catch::Contains("--input max_length="));
}

TEST_CASE("a compiled context says what it is", "[ops]") {
    GraphMaker g;
    auto& node = g.node("EPContext", {g.input("x", {1, 3})}, {g.output("y")}, "com.microsoft");
    node.attributes = {{"source", std::string("QNNExecutionProvider")}};
    const ShapedGraph s = bound(g);
    REQUIRE_FALSE(s.complete());
    CHECK_THAT(s.findings[0].message, Catch::Contains("compiled context for QNN"));
    CHECK_THAT(s.findings[0].hint, Catch::Contains("give the ONNX file that it was made of"));
}
