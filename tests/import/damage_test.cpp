// Damaged and malicious files are reported, never believed and never fatal.

#include "archsim/core/finding.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <random>

using namespace archsim;
using namespace archsim::test;
using Catch::Matchers::Contains;

namespace {

/// A model that uses most kinds of messages.
std::string sample() {
    auto model = make_model();
    auto* custom = model.add_opset_import();
    custom->set_domain("custom");
    custom->set_version(1);
    auto* function = model.add_functions();
    function->set_domain("custom");
    function->set_name("F");
    function->add_input("a");
    function->add_output("b");
    function->add_opset_import()->set_version(17);
    add_node(*function, "Relu", {"a"}, {"b"});
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "3", "8", "8"});
    add_weights(graph, "w", {4, 3, 3, 3}).set_raw_data(std::string(432, '\2'));
    add_weights(graph, "shape", {2}, onnx::TensorProto::INT64).add_int64_data(1);
    graph.mutable_initializer(1)->add_int64_data(-1);
    auto& conv = add_node(graph, "Conv", {"x", "w"}, {"c"}, "conv");
    add_attribute(conv, "pads", onnx::AttributeProto::INTS).add_ints(1);
    add_node(graph, "F", {"c"}, {"d"}, "call").set_domain("custom");
    auto& choice = add_node(graph, "If", {"d"}, {"e"}, "if");
    auto& branch = *add_attribute(choice, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
    add_node(branch, "Relu", {"d"}, {"t"});
    add_output(branch, "t");
    add_node(graph, "Reshape", {"e", "shape"}, {"y"}, "reshape");
    add_output(graph, "y");
    return model.SerializeAsString();
}

/// Imports or reports; anything else fails the test.
bool imports(const std::string& bytes) {
    try {
        import_bytes(bytes);
        return true;
    } catch (const InputError& error) {
        CHECK_THAT(error.what(), Contains("test.onnx"));
        return false;
    }
}

void check_refused(const std::string& bytes) {
    CHECK_FALSE(imports(bytes));
}

} // namespace

TEST_CASE("what is no model is refused in one sentence", "[import][damage]") {
    check_refused("");
    check_refused("ir_version: 8\ngraph { name: \"text\" }\n");
    check_refused("<!DOCTYPE html><html><body>404</body></html>");
    check_refused(std::string(1000, '\0'));
    check_refused(std::string(1000, '\xff'));
    check_refused("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 102400\n");
    CHECK_THROWS_AS(import_onnx(std::filesystem::path("no/such/model.onnx")), InputError);
    CHECK_THROWS_AS(import_onnx(std::filesystem::temp_directory_path()), InputError);
}

TEST_CASE("a truncated file is refused, wherever it ends", "[import][damage]") {
    const std::string whole = sample();
    REQUIRE(imports(whole));
    // The last field of the file is the last opset import or function: what ends between two fields may pass.
    std::size_t passed = 0;
    for (std::size_t size = 0; size < whole.size(); ++size)
        passed += imports(whole.substr(0, size));
    CHECK(passed < 8);
}

TEST_CASE("flipped bits give findings, not crashes", "[import][damage]") {
    const std::string whole = sample();
    for (std::size_t byte = 0; byte < whole.size(); ++byte)
        for (int bit = 0; bit < 8; ++bit) {
            std::string damaged = whole;
            damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
            imports(damaged);
        }
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 10; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        imports(damaged);
    }
    SUCCEED();
}

TEST_CASE("sizes that cannot be real are findings", "[import][damage]") {
    const auto huge = std::to_string(std::int64_t{1} << 60);
    SECTION("of an input") {
        auto model = make_model();
        add_input(*model.mutable_graph(), "x", {huge});
        const Graph graph = import_model(model);
        CHECK(has_finding(graph, FindingKind::too_large));
        CHECK(graph.tensors.at(0).shape->at(0).value == -1);
    }
    SECTION("of a weight") {
        auto model = make_model();
        add_weights(*model.mutable_graph(), "w", {std::int64_t{1} << 40, std::int64_t{1} << 40});
        CHECK(has_finding(import_model(model), FindingKind::too_large));
    }
    SECTION("of a weight whose product is zero") {
        auto model = make_model();
        add_weights(*model.mutable_graph(), "w", {0, std::int64_t{1} << 60});
        CHECK(has_finding(import_model(model), FindingKind::too_large));
    }
    SECTION("negative") {
        auto model = make_model();
        add_weights(*model.mutable_graph(), "w", {-4, 4});
        CHECK(has_finding(import_model(model), FindingKind::malformed_file));
    }
    SECTION("values that do not fill the shape") {
        auto model = make_model();
        add_weights(*model.mutable_graph(), "w", {3}, onnx::TensorProto::INT64).set_raw_data("12345");
        const Graph graph = import_model(model);
        CHECK(has_finding(graph, FindingKind::inconsistent));
        CHECK_FALSE(find_tensor(graph, "w")->value);
    }
}

TEST_CASE("wrong wiring is reported with the name of the node", "[import][damage]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1"});
    SECTION("an input from nowhere") {
        add_node(graph, "Relu", {"ghost"}, {"y"}, "relu");
        const Graph imported = import_model(model);
        REQUIRE(has_finding(imported, FindingKind::malformed_node));
        CHECK(imported.findings[0].where == "relu");
        CHECK_THAT(imported.findings[0].message, Contains("ghost"));
    }
    SECTION("a value produced twice") {
        add_node(graph, "Relu", {"x"}, {"y"});
        add_node(graph, "Neg", {"x"}, {"y"});
        CHECK(has_finding(import_model(model), FindingKind::duplicate));
    }
    SECTION("a cycle") {
        add_node(graph, "Add", {"x", "b"}, {"a"}, "one");
        add_node(graph, "Relu", {"a"}, {"b"}, "two");
        const Graph imported = import_model(model);
        REQUIRE(has_finding(imported, FindingKind::malformed_file));
        CHECK_THAT(imported.findings[0].message, Contains("cycle"));
        CHECK(imported.nodes.size() == 2);
    }
    SECTION("an output from nowhere") {
        add_output(graph, "ghost");
        CHECK(has_finding(import_model(model), FindingKind::malformed_file));
    }
    SECTION("a million things at once stay a short list") {
        for (int i = 0; i < 10'000; ++i)
            add_node(graph, "Relu", {"ghost" + std::to_string(i)}, {"y" + std::to_string(i)});
        const Graph imported = import_model(model);
        CHECK(imported.findings.size() < 300);
        CHECK_THAT(imported.findings.back().message, Contains("more findings"));
        CHECK(imported.findings.back().severity == Severity::error);
    }
}

TEST_CASE("subgraphs nested without end are refused", "[import][damage]") {
    std::string graph;
    const auto wrap = [](char tag, const std::string& content) {
        std::string out(1, tag);
        std::size_t length = content.size();
        for (; length >= 0x80; length >>= 7)
            out.push_back(static_cast<char>((length & 0x7f) | 0x80));
        out.push_back(static_cast<char>(length));
        return out + content;
    };
    for (int i = 0; i < 5000; ++i)
        graph = wrap(0x0a, wrap(0x2a, wrap(0x32, graph))); // node { attribute { g
    check_refused(wrap(0x3a, graph));
}
