// What the user gives by name: used where the name exists, told where it does not.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;
using namespace archsim::test;
using Catch::Matchers::Contains;

namespace {

const Finding* finding_at(const ShapedGraph& graph, const std::string& where, FindingKind kind) {
    const auto it = std::find_if(graph.findings.begin(), graph.findings.end(),
                                 [&](const Finding& f) { return f.where == where && f.kind == kind; });
    return it == graph.findings.end() ? nullptr : &*it;
}

/// y = MatMul(Reshape(x, Cast(Ceil(s))), W): the target shape is computed from data.
GraphMaker computed_shape() {
    GraphMaker g;
    const auto x = g.input("x", {6, 8}), s = g.input("s", {2});
    const auto ceiled = g.intermediate("ceiled"), target = g.intermediate("target");
    const auto shaped = g.intermediate("shaped");
    g.node("Ceil", {s}, {ceiled});
    g.node("Cast", {ceiled}, {target}).attributes = {{"to", std::int64_t{7}}};
    g.node("Reshape", {x, target}, {shaped});
    g.node("MatMul", {shaped, g.weight("w", {16, 4})}, {g.output("y")});
    return g;
}

} // namespace

TEST_CASE("a value that only a run would know can be given by the name of the tensor", "[ops][names]") {
    const GraphMaker g = computed_shape();
    const ShapedGraph unaided = bound(g);
    REQUIRE_FALSE(unaided.complete());
    const Finding* problem = finding_at(unaided, "Reshape_2", FindingKind::unresolved_dimension);
    REQUIRE(problem);
    CHECK_THAT(problem->hint, Contains("--input target="));

    Bindings bindings;
    bindings.input_values["target"] = {3, 16};
    const ShapedGraph s = bound(g, bindings);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{3, 4});
    CHECK(s.tensors[s.outputs[0]].data_dependent);
    CHECK(s.macs() == 3 * 4 * 16);
    CHECK(finding_at(s, "Cast_1", FindingKind::data_dependent_shape));
}

TEST_CASE("a slice with limits of the run is as long as its axis, or as the user says", "[ops][names]") {
    GraphMaker g;
    const auto x = g.input("x", {6, 8}), ends = g.input("ends", {1}, DataType::int64);
    g.node("Slice", {x, g.ints("starts", {0}), ends, g.ints("axes", {1})}, {g.output("y")});
    const ShapedGraph s = bound(g);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.outputs[0]].shape == Shape{6, 8});
    CHECK(s.tensors[s.outputs[0]].data_dependent);
    CHECK(operator_of(s, "Slice").work.kind == OpKind::data_movement);
    CHECK(finding_at(s, "Slice_0", FindingKind::data_dependent_shape));
    Bindings bindings;
    bindings.dims["Slice_0"] = 5;
    CHECK(bound(g, bindings).tensors[s.outputs[0]].shape == Shape{6, 5});
    bindings.dims.clear();
    bindings.input_values["ends"] = {3};
    const ShapedGraph given = bound(g, bindings);
    CHECK(given.tensors[given.outputs[0]].shape == Shape{6, 3});
}

TEST_CASE("a given value that does not fit its tensor is an error", "[ops][names]") {
    Bindings bindings;
    bindings.input_values["target"] = {3, 4, 4};
    const ShapedGraph s = bound(computed_shape(), bindings);
    CHECK_FALSE(s.complete());
    CHECK(finding_at(s, "target", FindingKind::shape_conflict));
}

TEST_CASE("names that the model does not have are told, with those it has", "[ops][names]") {
    GraphMaker g;
    const auto x = g.symbolic_input("x", {{-1, "batch"}, {-1, "sequence"}});
    g.node("Relu", {x}, {g.output("y")});
    Bindings bindings;
    bindings.dims = {{"batch", 2}, {"sequence", 3}, {"sequnce", 4}};
    bindings.input_values["nothing"] = {1};
    bindings.input_shapes["y"] = {2, 3};
    const ShapedGraph s = bound(g, bindings);
    const Finding* typo = finding_at(s, "sequnce", FindingKind::unknown_name);
    REQUIRE(typo);
    CHECK_THAT(typo->hint, Contains("batch, sequence"));
    CHECK(finding_at(s, "nothing", FindingKind::unknown_name));
    CHECK(finding_at(s, "y", FindingKind::unknown_name)); // an output, not an input
    CHECK_FALSE(finding_at(s, "batch", FindingKind::unknown_name));
    CHECK(s.complete()); // warnings only
}

TEST_CASE("a size that the others contradict is told", "[ops][names]") {
    GraphMaker g;
    const auto a = g.symbolic_input("a", {{-1, "past"}}), b = g.symbolic_input("b", {{-1, "new"}});
    const auto y = g.output("y");
    g.graph.tensors[y].shape = {{{-1, "total"}}};
    g.node("Concat", {a, b}, {y}).attributes = {{"axis", std::int64_t{0}}};
    Bindings bindings;
    bindings.dims = {{"past", 7}, {"new", 1}, {"total", 9}};
    CHECK(finding_at(bound(g, bindings), "total", FindingKind::unknown_name));
    bindings.dims["total"] = 8;
    CHECK(bound(g, bindings).findings.empty());
}
