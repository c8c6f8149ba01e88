// A model with an operator that nobody knows: refused, and on request estimated and marked.

#include "archsim/report/compare_models_report.hpp"
#include "archsim/run/compare_models.hpp"
#include "import/model_maker.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace archsim;

namespace {

/// y = Mystery(x W), z = relu(y): nothing declares the shapes of y and z.
std::string strange_file() {
    auto model = test::make_model();
    auto& graph = *model.mutable_graph();
    test::add_input(graph, "x", {"4", "64"});
    test::add_weights(graph, "w", {64, 64}, onnx::TensorProto::FLOAT);
    test::add_node(graph, "MatMul", {"x", "w"}, {"p"}, "product");
    test::add_node(graph, "Mystery", {"p"}, {"y"}, "mystery").set_domain("example.org");
    test::add_node(graph, "Relu", {"y"}, {"z"}, "relu");
    test::add_output(graph, "z");
    auto* domain = model.add_opset_import();
    domain->set_domain("example.org");
    domain->set_version(1);
    const auto file = std::filesystem::temp_directory_path() / "archsim-strange.onnx";
    std::ofstream out(file, std::ios::binary);
    model.SerializeToOstream(&out);
    return file.string();
}

} // namespace

TEST_CASE("an unknown operator is refused, or counted as shape-preserving and marked", "[unknown]") {
    const std::string file = strange_file();
    CompareModelsRequest request;
    request.models = {file};
    request.hardware = {"A100", "Xeon-8490H"};
    const ModelComparison refused = compare_models(laws::session(), request);
    for (const Result& r : refused.results)
        CHECK(r.estimate.status == Status::incomplete);

    request.conditions.allow_unknown = true;
    const ModelComparison accepted = compare_models(laws::session(), request);
    for (const Result& r : accepted.results) {
        INFO(r.hardware);
        REQUIRE(r.ok());
        CHECK(r.estimate.latency_s > 0);
        CHECK_FALSE(r.model->graph->complete());
    }
    const ShapedGraph& graph = *accepted.results.front().model->graph;
    const auto mystery = std::find_if(graph.operators.begin(), graph.operators.end(),
                                      [](const Operator& op) { return op.name == "mystery"; });
    REQUIRE(mystery != graph.operators.end());
    CHECK(mystery->work.vector_ops == 4 * 64); // one per element
    CHECK(graph.tensors[mystery->outputs.front()].shape == Shape{4, 64});
    const std::string text = render(describe(accepted), Format::text, {.width = 120});
    CHECK_THAT(text, Catch::Contains("A100!") &&
                         Catch::Contains("! Xeon-8490H, A100: a part of the model is not understood"));
    std::filesystem::remove(file);
}
