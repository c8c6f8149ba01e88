// A model with an operator that nobody knows: refused, and on request estimated and marked.

#include "answers/compare/compare_models_report.hpp"
#include "answers/portability/check_model.hpp"
#include "archsim/run/compare_models.hpp"
#include "import/model_maker.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
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
        CHECK_THAT(r.estimate.uncounted,
                   Catch::Contains("1 of 3 operators is not understood (example.org.Mystery)") &&
                       Catch::Contains("lower bound"));
        CHECK(status_text(r.estimate) == "incomplete");
        // What is left out takes time: nothing is known of the upper end.
        CHECK(std::isinf(r.estimate.latency_interval.high));
        CHECK(std::isinf(r.estimate.energy_interval.high));
        CHECK(r.estimate.latency_interval.low <= r.estimate.latency_s);
        CHECK(r.estimate.throughput_interval.low == 0);
    }
    const ShapedGraph& graph = *accepted.results.front().model->graph;
    const auto mystery = std::find_if(graph.operators.begin(), graph.operators.end(),
                                      [](const Operator& op) { return op.name == "mystery"; });
    REQUIRE(mystery != graph.operators.end());
    CHECK(mystery->work.vector_ops == 4 * 64); // one per element
    CHECK(graph.tensors[mystery->outputs.front()].shape == Shape{4, 64});
    const std::string text = render(describe(accepted), Format::text, {.width = 120});
    CHECK_THAT(text, Catch::Contains("A100!") && Catch::Contains("Incomplete: 1 of 3 operators") &&
                         Catch::Contains("Not ranked, incomplete:") && !Catch::Contains("Fastest:"));
    const std::string document = to_json(accepted);
    CHECK_THAT(document,
               Catch::Contains("\"complete\": false") && Catch::Contains("\"status\": \"incomplete\""));
    CHECK_THAT(document, !Catch::Contains(": inf"));
    const CompareModelsRequest& q = accepted.request;
    PortabilityRequest whole{.model = file, .hardware = q.hardware, .conditions = q.conditions};
    const std::string portability =
        render(describe(check_model(laws::session(), whole), {}, Format::text), Format::text, {});
    CHECK_THAT(portability,
               Catch::Contains("Unknown whether it runs entirely") && !Catch::Contains("Runs entirely on"));
    std::filesystem::remove(file);
}

TEST_CASE("a whole model wins against one of which a part is left out", "[unknown]") {
    const std::string file = strange_file();
    CompareModelsRequest request;
    request.models = {file, "resnet50"};
    request.hardware = {"A100"};
    request.conditions.allow_unknown = true;
    const ModelComparison both = compare_models(laws::session(), request);
    REQUIRE(both.results[0].estimate.latency_s < both.results[1].estimate.latency_s);
    const auto winner = find_winner(both.results, metric::latency, {});
    REQUIRE(winner);
    CHECK(winner->best == 1);
    CHECK(winner->tied.empty());
    std::filesystem::remove(file);
}

TEST_CASE("a size that is missing is asked for, and no device is blamed", "[unknown]") {
    auto model = test::make_model();
    auto& graph = *model.mutable_graph();
    test::add_input(graph, "x", {"1", "3", "rows", "columns"});
    test::add_weights(graph, "w", {16, 3, 3, 3});
    test::add_node(graph, "Conv", {"x", "w"}, {"y"}, "layer");
    test::add_output(graph, "y");
    const auto file = std::filesystem::temp_directory_path() / "archsim-open-size.onnx";
    std::ofstream(file, std::ios::binary) << model.SerializeAsString();
    CompareModelsRequest request;
    request.models = {file.string()};
    request.hardware = {"A100", "Xeon-8490H"};
    const std::string text =
        render(describe(compare_models(laws::session(), request)), Format::text, {.width = 120});
    CHECK_THAT(text, Catch::Contains("needs sizes, for example --dim rows=224 --dim columns=224") &&
                         !Catch::Contains("None of these devices"));
    std::filesystem::remove(file);
}
