// If, Loop and Scan: what of a body is counted, and how often.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// y = x W with W [n, n].
std::shared_ptr<const Graph> product_body(std::int64_t n, const std::string& captured) {
    GraphMaker b;
    const auto x = b.intermediate("x");
    b.graph.captured = {{x, captured}};
    b.node("MatMul", {x, b.weight("w", {n, n})}, {b.output("y")});
    return std::make_shared<const Graph>(b.graph);
}

/// Loop body: carried h -> h W, and the row sums as a scan output.
std::shared_ptr<const Graph> loop_body(bool ends_by_data) {
    GraphMaker b;
    b.input("i", {}, DataType::int64);
    const auto condition = b.input("cond_in", {}, DataType::boolean);
    const auto h = b.input("h", {2, 8});
    const auto out_condition = b.output("cond_out");
    const auto next = b.output("h_out"), sum = b.output("sum");
    b.node("MatMul", {h, b.weight("w", {8, 8})}, {next});
    b.node("ReduceSum", {next, b.ints("axes", {1})}, {sum});
    if (ends_by_data) {
        const auto total = b.intermediate("total");
        b.node("ReduceMax", {next}, {total}).attributes = {{"keepdims", std::int64_t{0}}};
        b.node("Greater", {total, b.weight("limit", {})}, {out_condition});
    } else {
        b.node("Identity", {condition}, {out_condition});
    }
    return std::make_shared<const Graph>(b.graph);
}

ShapedGraph run_loop(std::optional<std::int64_t> trips, bool ends_by_data, const Bindings& bindings = {}) {
    GraphMaker g;
    const auto h = g.input("h0", {2, 8});
    const auto limit = trips ? g.ints("M", {*trips}, true) : kNoTensor;
    auto& node = g.node("Loop", {limit, kNoTensor, h}, {g.output("h"), g.output("sums")});
    node.attributes = {{"body", loop_body(ends_by_data)}};
    return bound(g, bindings);
}

} // namespace

TEST_CASE("a known condition takes one branch", "[ops]") {
    GraphMaker g;
    g.input("x", {3, 16});
    const auto condition = g.input("c", {}, DataType::boolean);
    auto& node = g.node("If", {condition}, {g.output("y")});
    node.attributes = {{"then_branch", product_body(16, "x")}, {"else_branch", product_body(16, "x")}};
    Bindings bindings;
    bindings.input_values["c"] = {1};
    const ShapedGraph s = bound(g, bindings);
    REQUIRE(s.complete());
    CHECK(s.macs() == 3 * 16 * 16);
    CHECK(s.findings.empty());
    const ShapedGraph open = bound(g);
    CHECK(open.complete());
    CHECK(open.macs() == 3 * 16 * 16);
    REQUIRE(open.findings.size() == 1);
    CHECK(open.findings[0].kind == FindingKind::data_dependent_shape);
}

TEST_CASE("a loop counts its body once per trip", "[ops]") {
    for (const std::int64_t trips : {5, 1000}) {
        const ShapedGraph s = run_loop(trips, false);
        REQUIRE(s.complete());
        CHECK(s.macs() == 2.0 * 8 * 8 * static_cast<double>(trips));
        CHECK(s.tensors[s.outputs[0]].shape == Shape{2, 8});
        CHECK(s.tensors[s.outputs[1]].shape == Shape{trips, 2, 1});
        CHECK(s.parameters() == 8 * 8); // the same weights every time
    }
}

TEST_CASE("a loop that data ends is bounded, marked, or reported", "[ops]") {
    const ShapedGraph bounded = run_loop(1000, true);
    REQUIRE(bounded.complete());
    CHECK(bounded.macs() == 2.0 * 8 * 8 * 1000);
    CHECK(bounded.tensors[bounded.outputs[1]].data_dependent);
    CHECK_FALSE(run_loop(std::nullopt, true).complete());
    Bindings bindings;
    bindings.dims["Loop_0"] = 12;
    const ShapedGraph chosen = run_loop(std::nullopt, true, bindings);
    REQUIRE(chosen.complete());
    CHECK(chosen.macs() == 2.0 * 8 * 8 * 12);
}

TEST_CASE("a cache that grows in a loop is counted at its mean length", "[ops]") {
    GraphMaker b;
    b.input("i", {}, DataType::int64);
    const auto condition = b.input("cond_in", {}, DataType::boolean);
    const auto cache = b.input("cache", {1, 4});
    const auto out_condition = b.output("cond_out");
    const auto grown = b.output("grown"), scores = b.output("scores");
    b.node("Identity", {condition}, {out_condition});
    b.node("Concat", {cache, b.weight("row", {1, 4})}, {grown}).attributes = {{"axis", std::int64_t{0}}};
    const auto sum = b.intermediate("sum");
    b.node("MatMul", {grown, b.weight("w", {4, 4})}, {sum});
    b.node("ReduceSum", {sum}, {scores}).attributes = {{"keepdims", std::int64_t{0}}};
    GraphMaker g;
    const auto start = g.input("start", {0, 4});
    auto& node =
        g.node("Loop", {g.ints("M", {1001}, true), kNoTensor, start}, {g.output("end"), g.output("s")});
    node.attributes = {{"body", std::make_shared<const Graph>(b.graph)}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1001, 4});
    double exact = 0; // 1 + 2 + ... + 1001 rows
    for (int rows = 1; rows <= 1001; ++rows)
        exact += rows * 16.0;
    CHECK(s.macs() == exact);
}

TEST_CASE("a state that is known when a loop begins leaves no product of the first turn out", "[ops]") {
    for (const std::int64_t trips : {1, 5, 1000}) {
        GraphMaker g;
        const auto h = g.weight("zeros", {2, 8});
        auto& node =
            g.node("Loop", {g.ints("M", {trips}, true), kNoTensor, h}, {g.output("h"), g.output("sums")});
        node.attributes = {{"body", loop_body(false)}};
        const ShapedGraph s = bound(g);
        REQUIRE(s.complete());
        CHECK(s.macs() == 2.0 * 8 * 8 * static_cast<double>(trips));
    }
}

TEST_CASE("a list that the first turn of a loop gives its size does not grow with the turns", "[ops]") {
    GraphMaker b;
    b.input("i", {}, DataType::int64);
    const auto condition = b.input("cond_in", {}, DataType::boolean);
    const auto list = b.input("list", {1, 1, 4});
    const auto out_condition = b.output("cond_out"), next = b.output("list_out");
    b.node("Identity", {condition}, {out_condition});
    b.node("Expand", {list, b.ints("shape", {1, 3, 4})}, {next});
    GraphMaker g;
    auto& node = g.node("Loop", {g.ints("M", {1000}, true), kNoTensor, g.input("list0", {1, 1, 4})},
                        {g.output("list")});
    node.attributes = {{"body", std::make_shared<const Graph>(b.graph)}};
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{1, 3, 4});
}
