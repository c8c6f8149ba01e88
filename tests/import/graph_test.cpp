// What the importer makes of well-formed graphs.

#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("names, symbols and opsets are those of the file", "[import]") {
    auto model = make_model(13);
    auto* extra = model.add_opset_import();
    extra->set_domain("com.microsoft");
    extra->set_version(1);
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "3", "", "-1"});
    add_node(graph, "Relu", {"x"}, {"y"});
    add_node(graph, "Gelu", {"y"}, {"z"}, "act").set_domain("com.microsoft");
    add_output(graph, "z");

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.inputs.size() == 1);
    const Tensor& x = imported.tensors[imported.inputs[0]];
    CHECK(x.type == DataType::float32);
    REQUIRE(x.shape);
    REQUIRE(x.shape->size() == 4);
    CHECK(x.shape->at(0).symbol == "batch");
    CHECK(x.shape->at(1).value == 3);
    CHECK(x.shape->at(2).value == -1);
    CHECK(x.shape->at(2).symbol.empty());
    CHECK(x.shape->at(3).value == -1);
    REQUIRE(imported.nodes.size() == 2);
    CHECK(imported.nodes[0].name == "Relu_0");
    CHECK(imported.nodes[0].opset == 13);
    CHECK(imported.nodes[1].name == "act");
    CHECK(imported.nodes[1].domain == "com.microsoft");
    CHECK(imported.nodes[1].opset == 1);
    CHECK(imported.tensors[imported.outputs.at(0)].name == "z");
}

TEST_CASE("initialisers keep type and shape; only small values are kept", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1"});
    add_weights(graph, "stripped", {64, 3, 7, 7});
    auto& large = add_weights(graph, "large", {1000});
    large.set_raw_data(std::string(4000, '\1'));
    auto& scales = add_weights(graph, "scales", {4});
    for (const float scale : {1.0f, 1.0f, 2.0f, 2.0f})
        scales.add_float_data(scale);
    auto& shape = add_weights(graph, "shape", {3}, onnx::TensorProto::INT64);
    for (const std::int64_t dim : {-1, 3, 224})
        shape.add_int64_data(dim);
    add_weights(graph, "empty", {0}, onnx::TensorProto::INT64);
    auto& nibbles = add_weights(graph, "nibbles", {3}, 22 /* INT4 */);
    nibbles.set_raw_data("\x1f\x07");
    auto& half = add_weights(graph, "half", {2}, onnx::TensorProto::FLOAT16);
    half.add_int32_data(0x3c00);
    half.add_int32_data(0xc400);
    add_weights(graph, "bn.running_mean", {64});
    add_node(graph, "Identity", {"x"}, {"y"});
    add_output(graph, "y");

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    const auto tensor = [&](const char* name) -> const Tensor& { return *find_tensor(imported, name); };
    CHECK(tensor("stripped").role == TensorRole::initializer);
    CHECK_FALSE(tensor("stripped").value);
    CHECK(tensor("stripped").shape->at(1).value == 3);
    CHECK_FALSE(tensor("large").value);
    CHECK(tensor("scales").value->reals == std::vector<double>{1, 1, 2, 2});
    CHECK(tensor("shape").value->ints == std::vector<std::int64_t>{-1, 3, 224});
    REQUIRE(tensor("empty").value);
    CHECK(tensor("empty").value->ints.empty());
    CHECK(tensor("nibbles").value->ints == std::vector<std::int64_t>{-1, 1, 7});
    CHECK(tensor("half").value->reals == std::vector<double>{1, -4});
    CHECK(tensor("bn.running_mean").buffer);
    CHECK_FALSE(tensor("stripped").buffer);
}

TEST_CASE("an initializer that is also an input is no input of the graph", "[import]") {
    auto model = make_model(7);
    model.set_ir_version(3);
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1", "4"});
    add_input(graph, "w", {"4", "4"});
    add_weights(graph, "w", {4, 4});
    add_node(graph, "MatMul", {"x", "w"}, {"y"});
    add_output(graph, "y");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    CHECK(imported.inputs.size() == 1);
    CHECK(find_tensor(imported, "w")->role == TensorRole::initializer);
}

TEST_CASE("statistics of a batch normalisation are no parameters", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1", "8", "4", "4"});
    for (const char* name : {"scale", "bias", "m", "v"})
        add_weights(graph, name, {8});
    add_node(graph, "BatchNormalization", {"x", "scale", "bias", "m", "v"}, {"y"});
    add_output(graph, "y");
    const Graph imported = import_model(model);
    CHECK_FALSE(find_tensor(imported, "scale")->buffer);
    CHECK_FALSE(find_tensor(imported, "bias")->buffer);
    CHECK(find_tensor(imported, "m")->buffer);
    CHECK(find_tensor(imported, "v")->buffer);
}

TEST_CASE("Constant nodes become tensors with values", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_attribute(add_node(graph, "Constant", {}, {"axes"}), "value_ints", onnx::AttributeProto::INTS)
        .add_ints(1);
    auto& value =
        add_attribute(add_node(graph, "Constant", {}, {"table"}), "value", onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
    value.mutable_t()->add_dims(5000);
    value.mutable_t()->set_raw_data(std::string(20000, '\0'));
    add_node(graph, "ReduceSum", {"table", "axes"}, {"y"});
    add_output(graph, "y");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == 1);
    const Tensor* axes = find_tensor(imported, "axes");
    CHECK(axes->role == TensorRole::initializer);
    CHECK(axes->type == DataType::int64);
    CHECK(axes->value->ints == std::vector<std::int64_t>{1});
    CHECK(axes->buffer);
    const Tensor* table = find_tensor(imported, "table");
    CHECK_FALSE(table->value);
    CHECK_FALSE(table->buffer);
    CHECK(table->shape->at(0).value == 5000);
}

TEST_CASE("nodes out of order are sorted", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1"});
    add_node(graph, "Relu", {"b"}, {"c"}, "third");
    add_node(graph, "Relu", {"a"}, {"b"}, "second");
    add_node(graph, "Relu", {"x"}, {"a"}, "first");
    add_output(graph, "c");
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    CHECK(node_names(imported) == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("a chain of a hundred thousand nodes in reverse order", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    constexpr int kNodes = 100'000;
    add_input(graph, "v0", {"1"});
    for (int i = kNodes; i > 0; --i)
        add_node(graph, "Relu", {"v" + std::to_string(i - 1)}, {"v" + std::to_string(i)});
    add_output(graph, "v" + std::to_string(kNodes));
    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    REQUIRE(imported.nodes.size() == kNodes);
    CHECK(imported.tensors[imported.nodes.front().inputs[0]].name == "v0");
    CHECK(imported.nodes.back().outputs[0] == imported.outputs.at(0));
}

TEST_CASE("a subgraph captures names of the enclosing scopes, step by step", "[import]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "cond", {"1"});
    add_input(graph, "x", {"1"});
    auto& outer_if = add_node(graph, "If", {"cond"}, {"y"}, "outer");
    auto& then_branch = *add_attribute(outer_if, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
    auto& inner_if = add_node(then_branch, "If", {"cond"}, {"t"}, "inner");
    auto& inner_then = *add_attribute(inner_if, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
    add_node(inner_then, "Relu", {"late"}, {"r"});
    add_output(inner_then, "r");
    add_output(then_branch, "t");
    add_node(graph, "Relu", {"x"}, {"late"}, "producer"); // after its reader in the file
    add_output(graph, "y");

    const Graph imported = import_model(model);
    CHECK(imported.findings.empty());
    CHECK(node_names(imported) == std::vector<std::string>{"producer", "outer"});
    const auto& outer = std::get<std::shared_ptr<const Graph>>(*imported.nodes[1].attribute("then_branch"));
    std::vector<std::string> captured;
    for (const auto& [id, name] : outer->captured)
        captured.push_back(name);
    CHECK_THAT(captured, Catch::UnorderedEquals(std::vector<std::string>{"cond", "late"}));
    const auto& inner = std::get<std::shared_ptr<const Graph>>(*outer->nodes.at(0).attribute("then_branch"));
    REQUIRE(inner->captured.size() == 1);
    CHECK(inner->captured[0].second == "late");
    CHECK(inner->nodes.at(0).inputs.at(0) == inner->captured[0].first);
}
