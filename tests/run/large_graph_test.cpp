// Graphs far larger than networks are: nothing in the way from a file to an estimate recurses over the graph
// or looks through all of it per operator.

#include "import/model_maker.hpp"
#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>

using namespace archsim;
using namespace archsim::test;

namespace {

constexpr int kOperators = 100'000;
/// A hundred times what the benchmark of these graphs takes; an algorithm of quadratic time takes longer
/// still.
constexpr std::chrono::seconds kBound{30};

onnx::ModelProto model_with_input() {
    onnx::ModelProto model = make_model();
    add_input(*model.mutable_graph(), "x", {"batch", "4"});
    return model;
}

/// Each operator reads the one before it.
onnx::ModelProto chain() {
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    std::string last = "x";
    for (int i = 0; i < kOperators; ++i) {
        const std::string next = "t" + std::to_string(i);
        add_node(graph, i % 2 == 0 ? "Softmax" : "Relu", {last}, {next});
        last = next;
    }
    add_output(graph, last);
    return model;
}

/// Branches of two operators that one operator joins: an activation of the input or its product with one
/// matrix, and what follows.
onnx::ModelProto wide(const std::string& joined_by, bool products = false) {
    onnx::ModelProto model = model_with_input();
    onnx::GraphProto& graph = *model.mutable_graph();
    if (products)
        add_weights(graph, "w", {4, 4});
    std::vector<std::string> branches;
    for (int i = 0; i < kOperators / 2; ++i) {
        const std::string number = std::to_string(i);
        if (products)
            add_node(graph, "MatMul", {"x", "w"}, {"a" + number});
        else
            add_node(graph, "Relu", {"x"}, {"a" + number});
        add_node(graph, "Softmax", {"a" + number}, {"b" + number});
        branches.push_back("b" + number);
    }
    onnx::NodeProto& join = add_node(graph, joined_by, branches, {"y"});
    if (joined_by == "Concat")
        add_attribute(join, "axis", onnx::AttributeProto::INT).set_i(1);
    add_output(graph, "y");
    return model;
}

} // namespace

TEST_CASE("a hundred thousand operators, deep or wide, are estimated on every architecture", "[large]") {
    for (const auto& [name, model] : {std::pair{"chain", chain()},
                                      {"concatenated", wide("Concat")},
                                      {"summed", wide("Sum")},
                                      {"products", wide("Sum", true)}}) {
        INFO(name);
        const auto file =
            std::filesystem::temp_directory_path() / ("archsim_large_" + std::string(name) + ".onnx");
        std::ofstream stream(file, std::ios::binary);
        REQUIRE(model.SerializeToOstream(&stream));
        stream.close();
        const auto start = std::chrono::steady_clock::now();
        const auto bound = laws::session().bind(laws::session().load(file.string()), 1);
        CHECK(bound->graph().complete());
        CHECK(bound->graph().operators.size() >= kOperators);
        for (const char* device : {"H100", "Xeon-8490H", "TPU-v4", "KPU-T64", "QRB5165", "DPU-ZCU102",
                                   "CGRA-Plasticine", "Hailo-8"}) {
            Conditions options;
            options.precision = PrecisionConfig::uniform(Precision::int8);
            options.keep_subgraphs = false;
            const Result result = run_graph(laws::session(), bound, device, options);
            INFO(device << ": " << result.estimate.reason);
            CHECK(result.estimate.status != Status::incomplete);
            if (result.ok())
                CHECK(result.estimate.latency_s > 0);
        }
        CHECK(std::chrono::steady_clock::now() - start < kBound);
        std::filesystem::remove(file);
    }
}
