// Work of vector operators, folding and findings.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("pooling visits every element under its window", "[ops]") {
    GraphMaker g;
    auto& node = g.node("MaxPool", {g.input("x", {1, 8, 9, 9})}, {g.output("y")});
    node.attributes = {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}};
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 8, 4, 4});
    const OperatorWork& work = operator_of(s, "MaxPool").work;
    CHECK(work.vector_ops == 8 * 4 * 4 * 9);
    CHECK(work.kind == OpKind::pooling);
    CHECK(work.window->taps() == 9);

    GraphMaker global;
    global.node("GlobalAveragePool", {global.input("x", {2, 8, 7, 7})}, {global.output("y")});
    const OperatorWork mean = operator_of(bound(global), "GlobalAveragePool").work;
    CHECK(mean.vector_ops == 2 * 8 * 49 + 2 * 8);
}

TEST_CASE("dividing by a constant is a multiplication", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {4, 5});
    g.node("Div", {x, g.weight("c", {})}, {g.output("y")});
    g.node("Div", {x, x}, {g.output("z")});
    const ShapedGraph s = bound(g);
    CHECK(s.operators[0].work.vector_ops == 20);
    CHECK(s.operators[0].work.special_ops == 0);
    CHECK(s.operators[1].work.special_ops == 20);
}

TEST_CASE("batch normalisation in inference is a scale and a shift", "[ops]") {
    GraphMaker g;
    g.node("BatchNormalization",
           {g.input("x", {1, 4, 8, 8}), g.weight("s", {4}), g.weight("b", {4}), g.weight("m", {4}),
            g.weight("v", {4})},
           {g.output("y")});
    const ShapedGraph s = bound(g);
    const OperatorWork& work = operator_of(s, "BatchNormalization").work;
    CHECK(work.vector_ops == 2 * 256);
    CHECK(work.fusion == FusionClass::elementwise);
    CHECK(s.parameters() == 8); // mean and variance are statistics
}

TEST_CASE("an embedding reads its rows only", "[ops]") {
    GraphMaker g;
    g.node("Gather", {g.weight("table", {50257, 768}), g.input("ids", {1, 10}, DataType::int64)},
           {g.output("y")});
    const ShapedGraph s = bound(g);
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 10, 768});
    const auto reads = operator_of(s, "Gather").work.partial_reads;
    REQUIRE(reads.size() == 1);
    CHECK(reads[0] == std::pair<std::uint16_t, double>{0, 7680});
}

TEST_CASE("shape arithmetic folds away", "[ops]") {
    GraphMaker g;
    const auto x = g.symbolic_input("x", {{-1, "batch"}, {12, ""}, {8, ""}});
    const auto shape = g.intermediate("shape"), batch = g.intermediate("b"),
               target = g.intermediate("target");
    g.node("Shape", {x}, {shape});
    g.node("Gather", {shape, g.ints("zero", {0})}, {batch});
    auto& concat = g.node("Concat", {batch, g.ints("rest", {-1, 4})}, {target});
    concat.attributes = {{"axis", std::int64_t{0}}};
    g.node("Reshape", {x, target}, {g.output("y")});
    Bindings bindings;
    bindings.dims["batch"] = 3;
    const ShapedGraph s = bound(g, bindings);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{3, 24, 4});
    CHECK(s.dims.at("batch") == 3);
    CHECK(s.operators[0].folded);
    CHECK(s.operators[2].folded);
    CHECK_FALSE(s.operators[3].folded);
    CHECK(s.operators[3].work.kind == OpKind::free);
}

TEST_CASE("the batch size binds the leading symbol of the inputs", "[ops]") {
    GraphMaker g;
    const auto x = g.symbolic_input("x", {{-1, "n"}, {4, ""}});
    g.node("Relu", {x}, {g.output("y")});
    Bindings bindings;
    bindings.batch_size = 7;
    CHECK(bound(g, bindings).tensors[x].shape == Shape{7, 4});
    bindings.dims["n"] = 2; // an explicit size wins
    CHECK(bound(g, bindings).tensors[x].shape == Shape{2, 4});
}

TEST_CASE("everything wrong is reported at once", "[ops]") {
    GraphMaker g;
    const auto x = g.symbolic_input("x", {{-1, "n"}, {4, ""}});
    const auto a = g.intermediate("a");
    g.node("Relu", {x}, {a});
    g.node("Frobnicate", {a}, {g.output("y")}, "my.domain");
    const ShapedGraph s = bound(g);
    CHECK_FALSE(s.complete());
    bool dimension = false, unknown = false;
    for (const Finding& f : s.findings) {
        dimension = dimension || (f.kind == FindingKind::unresolved_dimension &&
                                  f.hint.find("--dim n=") != std::string::npos);
        unknown = unknown || (f.kind == FindingKind::unknown_operator && f.where == "Frobnicate_1" &&
                              f.op_type == "Frobnicate" && f.domain == "my.domain" && f.opset == 1);
    }
    CHECK(dimension);
    CHECK(unknown);
}

TEST_CASE("absurd sizes are findings", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {std::int64_t{1} << 60, 4});
    g.node("Relu", {x}, {g.output("y")});
    const ShapedGraph s = bound(g);
    REQUIRE_FALSE(s.findings.empty());
    CHECK(s.findings[0].kind == FindingKind::too_large);
    CHECK_FALSE(s.complete());
}

TEST_CASE("a data-dependent count is a marked upper bound or the user's choice", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {4, 5});
    const auto places = g.intermediate("places");
    g.node("NonZero", {x}, {places});
    g.node("Cast", {places}, {g.output("y")}).attributes = {{"to", std::int64_t{1}}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{2, 20});
    CHECK(s.tensors[s.outputs[0]].data_dependent);
    REQUIRE(s.findings.size() == 1);
    CHECK(s.findings[0].kind == FindingKind::data_dependent_shape);
    CHECK(s.findings[0].severity == Severity::note);
    Bindings bindings;
    bindings.dims["NonZero_0"] = 6;
    const ShapedGraph chosen = bound(g, bindings);
    CHECK(chosen.tensors[chosen.outputs[0]].shape == Shape{2, 6});
    CHECK(chosen.tensors[chosen.outputs[0]].data_dependent);
}

TEST_CASE("a convolution between quantisers runs in eight bits", "[ops]") {
    GraphMaker g;
    const auto x = g.input("x", {1, 3, 8, 8});
    const auto scale = g.weight("scale", {}), zero = g.weight("zero", {}, DataType::uint8);
    const auto q = g.intermediate("q"), d = g.intermediate("d"), dw = g.intermediate("dw"),
               y = g.intermediate("y");
    const auto qy = g.intermediate("qy");
    const auto w = g.weight("w", {4, 3, 3, 3}, DataType::int8), ws = g.weight("ws", {4}),
               wz = g.weight("wz", {4}, DataType::int8);
    g.node("QuantizeLinear", {x, scale, zero}, {q});
    g.node("DequantizeLinear", {q, scale, zero}, {d});
    g.node("DequantizeLinear", {w, ws, wz}, {dw}).attributes = {{"axis", std::int64_t{0}}};
    g.node("Conv", {d, dw}, {y});
    g.node("QuantizeLinear", {y, scale, zero}, {qy});
    g.node("DequantizeLinear", {qy, scale, zero}, {g.output("out")});
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(operator_of(s, "Conv").native_precision == Precision::int8);
    CHECK(s.operators[0].work.kind == OpKind::elementwise); // the float input really is quantised
    CHECK(s.operators[1].work.kind == OpKind::free);
    CHECK(s.operators[2].folded);
    CHECK(s.operators[4].work.kind == OpKind::free);
    CHECK(s.operators[5].work.kind == OpKind::elementwise); // the result really becomes float
    CHECK(s.tensors[d].stored_bits() == 8);
    CHECK(s.tensors[y].stored_bits() == 8);
    CHECK(s.tensors[dw].stored_bits() == Approx(8 + (4 * 32 + 4 * 8) / 108.0));
    CHECK(s.parameters() == 108); // scales and zero points are not learned
}
