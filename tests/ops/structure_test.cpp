// What makes a graph one that nothing can be said of, and budgets of loops.

#include "archsim/core/finding.hpp"
#include "archsim/extend/operator.hpp"
#include "archsim/partition/partition.hpp"
#include "ops/graph_maker.hpp"
#include "ops/passes.hpp"

#include <catch2/catch.hpp>
#include <onnx/defs/schema.h>

#include <cmath>
#include <memory>

using namespace archsim;
using namespace archsim::test;

namespace {

std::vector<Finding> faults_of(const GraphMaker& maker) {
    return structural_faults(maker.graph, OperatorRegistry::standard());
}

/// A Loop of `trips` around `body`.
void add_loop(GraphMaker& outer, std::int64_t trips, const GraphMaker& body, TensorId in, TensorId out) {
    outer.node("Loop", {outer.ints("trips", {trips}, true), kNoTensor, in}, {out})
        .attributes.emplace_back("body", std::make_shared<const Graph>(body.graph));
}

/// Loops of `trips` in each other around one Relu.
GraphMaker nested_loops(int depth, std::int64_t trips) {
    GraphMaker body;
    body.input("i", {}, DataType::int64);
    const TensorId condition = body.input("c", {}, DataType::boolean);
    const TensorId s = body.input("s", {4});
    body.graph.outputs.push_back(condition);
    const TensorId o = body.output("o");
    if (depth == 1) {
        body.node("Relu", {s}, {o});
    } else {
        Node inner = nested_loops(depth - 1, trips).graph.nodes.front();
        inner.inputs = {body.ints("t", {trips}, true), kNoTensor, s};
        inner.outputs = {o};
        body.graph.nodes.push_back(std::move(inner));
    }
    GraphMaker maker;
    const TensorId x = maker.input("x", {4});
    add_loop(maker, trips, body, x, maker.output("y"));
    return maker;
}

} // namespace

TEST_CASE("no operator asks for more than any version of its schema", "[ops]") {
    std::size_t compared = 0;
    for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
        const std::string domain = schema.domain() == "ai.onnx" ? "" : schema.domain();
        const OperatorRow* const arity = OperatorRegistry::standard().find(domain, schema.Name());
        if (arity == nullptr)
            continue;
        const auto single = [](const auto& formals) {
            std::size_t i = 0;
            while (i < formals.size() && formals[i].GetOption() == onnx::OpSchema::Single)
                ++i;
            return i;
        };
        const auto variadic = [](const auto& formals) {
            return formals.size() == 1 && formals[0].GetOption() == onnx::OpSchema::Variadic;
        };
        INFO(schema.Name() << "-" << schema.SinceVersion());
        const std::size_t inputs = single(schema.inputs()), outputs = single(schema.outputs());
        if (schema.Name() != "If" && schema.Name() != "Loop" && schema.Name() != "Scan" &&
            schema.Name() != "SequenceMap") { // which check their bodies
            CHECK(arity->inputs <= (variadic(schema.inputs()) ? 1 : inputs));
            CHECK(arity->outputs <= outputs);
        }
        ++compared;
    }
    CHECK(compared > 300);
}

TEST_CASE("a node without an operand that it needs is named", "[ops]") {
    GraphMaker gather;
    gather.node("Gather", {gather.input("x", {4, 4}), kNoTensor}, {gather.output("y")});
    REQUIRE(faults_of(gather).size() == 1);
    CHECK(faults_of(gather)[0].message == "input 1 is missing");
    CHECK(faults_of(gather)[0].where == "Gather_0");

    GraphMaker erf;
    erf.node("Erf", {erf.input("x", {4})}, {});
    REQUIRE(faults_of(erf).size() == 1);
    CHECK(faults_of(erf)[0].message == "output 0 has no name");

    GraphMaker legal;
    const TensorId x = legal.input("x", {3, 2, 4}), w = legal.weight("w", {1, 12, 4}),
                   r = legal.weight("r", {1, 12, 3});
    legal.node("GRU", {x, w, r}, {kNoTensor, legal.output("h")})
        .attributes.emplace_back("hidden_size", std::int64_t{3});
    CHECK(faults_of(legal).empty());
}

TEST_CASE("a node that reads itself or a later one is named, in bodies too", "[ops]") {
    GraphMaker self;
    const TensorId y = self.output("y");
    self.node("Concat", {self.input("x", {4}), y}, {y}).attributes.emplace_back("axis", std::int64_t{0});
    CHECK(faults_of(self).size() == 1);
    // Whoever binds it all the same gets a graph without it.
    const ShapedGraph graph = bound(self);
    CHECK_FALSE(graph.complete());
    CHECK(graph.operators[0].folded);
    CHECK(partition(graph, FusionPolicy{}).subgraphs.empty());

    GraphMaker late;
    const TensorId b = late.intermediate("b");
    late.node("Relu", {b}, {late.output("a")});
    late.node("Relu", {late.input("x", {4})}, {b});
    CHECK(faults_of(late).size() == 1);

    GraphMaker outer, body;
    const TensorId o = body.output("o");
    body.node("Relu", {o}, {o});
    outer.node("If", {outer.input("p", {}, DataType::boolean)}, {outer.output("z")})
        .attributes.emplace_back("then_branch", std::make_shared<const Graph>(body.graph));
    CHECK(faults_of(outer).size() == 1);

    GraphMaker beyond;
    beyond.node("Relu", {TensorId{77}}, {beyond.output("y")});
    CHECK(faults_of(beyond).size() == 1);
}

TEST_CASE("loops in loops are counted out only as far as their bodies stay few", "[ops]") {
    for (const int depth : {1, 2, 3, 4, 6}) {
        INFO("depth " << depth);
        const ShapedGraph graph = bound(nested_loops(depth, 64));
        CHECK(graph.complete());
        double times = 0;
        for (const Operator& op : graph.operators)
            if (op.type == "Relu")
                times += op.repeat;
        CHECK(times == std::pow(64.0, depth));
        CHECK(graph.operators.size() < 70'000);
    }
}

TEST_CASE("a spent budget is refused with the limit and how to raise it", "[ops]") {
    const GraphMaker maker = nested_loops(1, 64);
    const auto bind_within = [&](const Budget& budget) {
        return archsim::bind(maker.graph, {}, {}, OperatorRegistry::standard(), budget);
    };
    CHECK_NOTHROW(bind_within({}));
    for (const Budget& budget : {Budget{.bytes = 1000}, Budget{.steps = 20}})
        try {
            bind_within(budget);
            FAIL("it was not refused");
        } catch (const InputError& refused) {
            REQUIRE(refused.findings().size() == 1);
            CHECK(refused.findings()[0].kind == FindingKind::too_large);
            CHECK_THAT(refused.findings()[0].hint, Catch::Contains("ARCHSIM_BUDGET"));
        }
}
