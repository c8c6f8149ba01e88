// Model-local functions are replaced by their bodies.

#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs, int opset = 17) {
    auto* function = model.add_functions();
    function->set_domain("custom");
    function->set_name(name);
    for (const auto& input : inputs)
        function->add_input(input);
    for (const auto& output : outputs)
        function->add_output(output);
    function->add_opset_import()->set_version(opset);
    return *function;
}

template <typename Owner>
onnx::NodeProto& add_call(Owner& owner, const std::string& function, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& name) {
    auto& node = add_node(owner, function, inputs, outputs, name);
    node.set_domain("custom");
    return node;
}

/// A model with the input x, the output y and the domain of the functions.
onnx::ModelProto calling_model() {
    auto model = make_model();
    auto* custom = model.add_opset_import();
    custom->set_domain("custom");
    custom->set_version(1);
    add_input(*model.mutable_graph(), "x", {"4"});
    add_output(*model.mutable_graph(), "y");
    return model;
}

} // namespace

TEST_CASE("a call becomes the nodes of the function, twice over", "[import][function]") {
    auto model = calling_model();
    auto& body = add_function(model, "Twice", {"a"}, {"c"}, 15);
    add_node(body, "Relu", {"a"}, {"b"}, "relu");
    add_node(body, "Neg", {"b"}, {"c"});
    add_call(*model.mutable_graph(), "Twice", {"x"}, {"m"}, "one");
    add_call(*model.mutable_graph(), "Twice", {"m"}, {"y"}, "two");

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    CHECK(node_names(imported) == std::vector<std::string>{"one/relu", "one/Neg_1", "two/relu", "two/Neg_1"});
    CHECK(imported.nodes[0].opset == 15);
    CHECK(imported.tensors[imported.nodes[0].outputs[0]].name == "one/b");
    CHECK(imported.tensors[imported.nodes[2].outputs[0]].name == "two/b");
    CHECK(imported.nodes[3].outputs[0] == imported.outputs.at(0));
}

TEST_CASE("attributes of the call reach the body, nested calls and subgraphs too", "[import][function]") {
    auto model = calling_model();
    auto& inner = add_function(model, "Inner", {"a"}, {"b"});
    auto& softmax = add_node(inner, "Softmax", {"a"}, {"b"}, "softmax");
    add_attribute(softmax, "axis", onnx::AttributeProto::INT).set_ref_attr_name("axis");
    auto& outer = add_function(model, "Outer", {"a", "unused"}, {"b"});
    auto& nested = add_call(outer, "Inner", {"a"}, {"b"}, "nested");
    add_attribute(nested, "axis", onnx::AttributeProto::INT).set_ref_attr_name("dim");
    auto& call = add_call(*model.mutable_graph(), "Outer", {"x"}, {"y"}, "call");
    add_attribute(call, "dim", onnx::AttributeProto::INT).set_i(-2);

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == 1);
    CHECK(imported.nodes[0].name == "call/nested/softmax");
    CHECK(std::get<std::int64_t>(*imported.nodes[0].attribute("axis")) == -2);
}

TEST_CASE("an attribute left out takes the function's default, else the operator's", "[import][function]") {
    auto model = calling_model();
    auto& body = add_function(model, "Act", {"a"}, {"b"});
    auto& node = add_node(body, "HardSigmoid", {"a"}, {"b"});
    add_attribute(node, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("alpha");
    add_attribute(node, "beta", onnx::AttributeProto::FLOAT).set_ref_attr_name("beta");
    onnx::AttributeProto fallback;
    fallback.set_name("alpha");
    fallback.set_type(onnx::AttributeProto::FLOAT);
    fallback.set_f(0.25f);
    // Field 11 (attribute_proto) of FunctionProto is newer than some onnx libraries.
    body.GetReflection()->MutableUnknownFields(&body)->AddLengthDelimited(11, fallback.SerializeAsString());
    add_call(*model.mutable_graph(), "Act", {"x"}, {"y"}, "call");

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == 1);
    CHECK(std::get<double>(*imported.nodes[0].attribute("alpha")) == 0.25);
    CHECK(imported.nodes[0].attribute("beta") == nullptr);
}

TEST_CASE("overloads of a function are told apart", "[import][function]") {
    auto model = calling_model();
    for (const char* type : {"Relu", "Neg"}) {
        auto& body = add_function(model, "F", {"a"}, {"b"});
        add_node(body, type, {"a"}, {"b"});
        body.GetReflection()->MutableUnknownFields(&body)->AddLengthDelimited(13, type);
    }
    auto& call = add_call(*model.mutable_graph(), "F", {"x"}, {"y"}, "call");
    call.GetReflection()->MutableUnknownFields(&call)->AddLengthDelimited(8, "Neg");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == 1);
    CHECK(imported.nodes[0].op_type == "Neg");
}

TEST_CASE("an input handed through a function is an Identity", "[import][function]") {
    auto model = calling_model();
    add_function(model, "Same", {"a"}, {"a"});
    add_call(*model.mutable_graph(), "Same", {"x"}, {"y"}, "call");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == 1);
    CHECK(imported.nodes[0].op_type == "Identity");
    CHECK(imported.nodes[0].inputs == imported.inputs);
    CHECK(imported.nodes[0].outputs == imported.outputs);
}

TEST_CASE("a subgraph in a function body reads the tensors of the call", "[import][function]") {
    auto model = calling_model();
    auto& body = add_function(model, "Choose", {"a", "missing"}, {"b"});
    add_node(body, "Neg", {"a"}, {"n"});
    auto& choice = add_node(body, "If", {"a"}, {"b"}, "if");
    auto& branch = *add_attribute(choice, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
    add_node(branch, "Clip", {"n", "missing"}, {"t"}, "clip");
    add_output(branch, "t");
    add_call(*model.mutable_graph(), "Choose", {"x"}, {"y"}, "call");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    const auto& then_branch =
        std::get<std::shared_ptr<const Graph>>(*imported.nodes.at(1).attribute("then_branch"));
    REQUIRE(then_branch->captured.size() == 1);
    CHECK(then_branch->captured[0].second == "call/n");
    CHECK(then_branch->nodes.at(0).inputs ==
          std::vector<TensorId>{then_branch->captured[0].first, kNoTensor});
}

TEST_CASE("a function that calls itself is a finding", "[import][function]") {
    auto model = calling_model();
    auto& body = add_function(model, "Loop", {"a"}, {"b"});
    add_call(body, "Loop", {"a"}, {"b"}, "again");
    add_call(*model.mutable_graph(), "Loop", {"x"}, {"y"}, "call");
    const Graph imported = import_model(model);
    CHECK(has_finding(imported, FindingKind::malformed_file));
}

TEST_CASE("functions that multiply without bound are refused", "[import][function]") {
    auto model = calling_model();
    constexpr int kLevels = 40; // 2^40 nodes when expanded
    for (int level = 0; level < kLevels; ++level) {
        auto& body = add_function(model, "F" + std::to_string(level), {"a"}, {"c"});
        const auto add = [&](const std::string& from, const std::string& to, const std::string& name) {
            if (level + 1 < kLevels)
                add_call(body, "F" + std::to_string(level + 1), {from}, {to}, name);
            else
                add_node(body, "Relu", {from}, {to}, name);
        };
        add("a", "b", "l");
        add("b", "c", "r");
    }
    add_call(*model.mutable_graph(), "F0", {"x"}, {"y"}, "call");
    CHECK_THROWS_WITH(import_model(model), Catch::Contains("takes more than") && Catch::Contains("steps"));
}

TEST_CASE("a chain of functions deeper than the stack allows is a finding", "[import][function]") {
    auto model = calling_model();
    constexpr int kFunctions = 100'000;
    for (int i = 0; i < kFunctions; ++i) {
        auto& body = add_function(model, "F" + std::to_string(i), {"a"}, {"b"});
        add_call(body, "F" + std::to_string(i + 1), {"a"}, {"b"}, "c");
    }
    add_call(*model.mutable_graph(), "F0", {"x"}, {"y"}, "call");
    CHECK(has_finding(import_model(model), FindingKind::too_large));
}
