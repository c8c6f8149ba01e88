// Initializers that are inputs of the graph too: defaults that callers may replace, no constants for a
// runtime.

#include "archsim/ops/shaped_graph.hpp"
#include "archsim/partition/partition.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

/// Conv -> BatchNormalization -> Relu; `listed`: the weights are inputs too.
Graph network(bool listed, int ir_version) {
    auto model = test::make_model();
    model.set_ir_version(ir_version);
    auto& graph = *model.mutable_graph();
    test::add_input(graph, "x", {"1", "16", "32", "32"});
    test::add_weights(graph, "w", {16, 16, 3, 3});
    for (const char* name : {"scale", "shift", "mean", "variance"})
        test::add_weights(graph, name, {16});
    if (listed) {
        test::add_input(graph, "w", {"16", "16", "3", "3"});
        for (const char* name : {"scale", "shift", "mean", "variance"})
            test::add_input(graph, name, {"16"});
    }
    test::add_node(graph, "Conv", {"x", "w"}, {"c"}, "conv");
    test::add_node(graph, "BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"n"}, "norm");
    test::add_node(graph, "Relu", {"n"}, {"y"}, "relu");
    test::add_output(graph, "y");
    return test::import_model(model);
}

std::size_t kernels(const Graph& graph, const FusionPolicy& policy) {
    return partition(archsim::bind(graph, {}), policy).subgraphs.size();
}

} // namespace

TEST_CASE("weights that callers may replace are folded only by stacks that say so", "[import]") {
    FusionPolicy folds, keeps;
    keeps.replaceable_weights = false; // as ONNX Runtime
    for (const int ir : {3, 4, 8}) {
        INFO(ir);
        const Graph plain = network(false, ir), listed = network(true, ir);
        CHECK(kernels(plain, keeps) == 1);
        CHECK(kernels(listed, folds) == 1);
        const bool replaceable = ir >= 4; // before, every initializer had to be listed
        CHECK((kernels(listed, keeps) > 1) == replaceable);
        const auto said = std::count_if(listed.findings.begin(), listed.findings.end(), [](const Finding& f) {
            return f.message.find("5 weights of convolutions and normalisations are inputs") !=
                   std::string::npos;
        });
        CHECK(said == replaceable);
        CHECK(plain.findings.empty());
        CHECK(archsim::bind(listed, {}).parameters() == archsim::bind(plain, {}).parameters());
    }
}

TEST_CASE("the bias of a layer is a parameter though a Constant holds it", "[import]") {
    auto model = test::make_model();
    auto& graph = *model.mutable_graph();
    test::add_input(graph, "x", {"1", "64"});
    test::add_weights(graph, "w", {64, 32});
    auto& constant = test::add_node(graph, "Constant", {}, {"b"});
    auto& value = test::add_attribute(constant, "value_floats", onnx::AttributeProto::FLOATS);
    for (int i = 0; i < 32; ++i)
        value.add_floats(0);
    test::add_node(graph, "Gemm", {"x", "w", "b"}, {"y"});
    test::add_output(graph, "y");
    CHECK(archsim::bind(test::import_model(model), {}).parameters() == 64 * 32 + 32);
}

TEST_CASE("a number as a name is a number", "[import]") {
    auto model = test::make_model();
    auto& graph = *model.mutable_graph();
    auto* input = graph.add_input();
    input->set_name("x");
    auto* tensor = input->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx::TensorProto::FLOAT);
    for (const char* dim : {"1", "3", "99999999999999999999"})
        tensor->mutable_shape()->add_dim()->set_dim_param(dim);
    test::add_output(graph, "x");
    const Graph imported = test::import_model(model);
    const auto& shape = *test::find_tensor(imported, "x")->shape;
    CHECK(shape[0].value == 1);
    CHECK(shape[1].value == 3);
    CHECK(shape[1].symbol.empty());
    CHECK(test::has_finding(imported, FindingKind::too_large));
}
