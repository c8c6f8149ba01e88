// The hardware-independent profile: sums that add up, and a document that tells what it does not know.

#include "answers/profile/graph_profile.hpp"
#include "import/model_maker.hpp"
#include "report/render/renderers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>

using namespace archsim;
using namespace archsim::test;

namespace {

/// x[batch, 8] -> two Gemms that share their weight, each in a module, joined by an Add.
onnx::ModelProto shared_weight_model() {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "8"});
    add_weights(graph, "w", {8, 8});
    add_node(graph, "MatMul", {"x", "w"}, {"a"}, "/left/proj/MatMul");
    add_node(graph, "MatMul", {"a", "w"}, {"b"}, "/right/proj/MatMul");
    add_node(graph, "Add", {"a", "b"}, {"y"}, "/Add");
    add_output(graph, "y");
    return model;
}

GraphProfile profile_of(const Graph& graph, std::int64_t batch) {
    Bindings bindings;
    bindings.dims["batch"] = batch;
    return profile_graph("test", std::make_shared<const ShapedGraph>(bind(graph, bindings)));
}

} // namespace

TEST_CASE("work and bytes of each operator, parameters once", "[report][profile]") {
    const GraphProfile profile = profile_of(import_model(shared_weight_model()), 2);
    REQUIRE(profile.complete);
    REQUIRE(profile.operators.size() == 3);
    const ProfileSums& left = profile.operators[0].sums;
    CHECK(left.macs == 2 * 8 * 8);
    CHECK(left.operations == 2 * left.macs);
    CHECK(left.parameters == 64);
    CHECK(left.weight_bytes == 64 * 4);
    CHECK(left.activation_bytes == (16 + 16) * 4);
    CHECK(left.intensity() == Approx(256.0 / (256 + 128)));
    const ProfileSums& right = profile.operators[1].sums;
    CHECK(right.parameters == 0);
    CHECK(right.weight_bytes == 64 * 4);
    CHECK(profile.totals.parameters == 64);
    CHECK(profile.stored_weight_bytes == 64 * 4);
}

TEST_CASE("types and modules partition the totals", "[report][profile]") {
    const auto file = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "models/onnx/resnet50.onnx";
    Bindings bindings;
    bindings.dims = {{"batch", 1}, {"height", 224}, {"width", 224}};
    const GraphProfile profile =
        profile_graph("resnet50", std::make_shared<const ShapedGraph>(bind(import_onnx(file), bindings)));
    REQUIRE(profile.complete);
    ProfileSums types, operators;
    for (const auto& type : profile.types)
        types += type.sums;
    for (const auto& item : profile.operators)
        operators += item.sums;
    for (const ProfileSums* sums : {&types, &operators}) {
        CHECK(sums->macs == Approx(profile.totals.macs));
        CHECK(sums->operations == Approx(profile.totals.operations));
        CHECK(sums->parameters == Approx(profile.totals.parameters));
        CHECK(sums->bytes() == Approx(profile.totals.bytes()));
    }
    CHECK(profile.totals.macs == Approx(profile.graph->macs()));
    CHECK(profile.totals.parameters == profile.graph->parameters());

    double first_level = 0;
    for (const auto& module : profile.modules)
        if (module.depth == 1)
            first_level += module.sums.macs;
    CHECK(profile.modules.front().depth == 0);
    CHECK(first_level == Approx(profile.totals.macs)); // every Conv and Gemm of this network is in a module
}

TEST_CASE("the JSON document has the promised keys", "[report][profile]") {
    const auto document = nlohmann::json::parse(to_json(profile_of(import_model(shared_weight_model()), 2)));
    CHECK(document.at("schema") == "archsim.profile_graph/1");
    CHECK(document.at("totals").at("macs") == 256);
    CHECK(document.at("totals").at("parameters") == 64);
    CHECK(document.at("totals").at("weight_bytes") == 256);
    CHECK(document.at("operators").at(0).at("name") == "/left/proj/MatMul");
    CHECK(document.at("operators").at(0).at("inputs") == nlohmann::json{"x", "w"});
    CHECK(document.at("tensors").at("a") == nlohmann::json{2, 8});
    CHECK(document.at("tensor_types").at("a") == "float32");
    CHECK(document.at("findings").empty());
}

TEST_CASE("the document of a long graph takes time in proportion", "[report][profile]") {
    // A quadratic search through the keys took minutes for a hundred thousand tensors.
    const auto profiled = [](int nodes) {
        auto model = make_model();
        auto& graph = *model.mutable_graph();
        add_input(graph, "t0", {"1", "8"});
        for (int i = 0; i < nodes; ++i)
            add_node(graph, "Relu", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)});
        add_output(graph, "t" + std::to_string(nodes));
        return profile_of(import_model(model), 1);
    };
    const auto seconds = [](const GraphProfile& profile) {
        const std::clock_t start = std::clock();
        const std::string document = to_json(profile);
        CHECK(document.size() > profile.operators.size());
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    // Both are too large for caches, whose end multiplies times without a search.
    const GraphProfile small = profiled(16'000), large = profiled(64'000);
    CHECK(seconds(large) < 4 * 2.5 * std::max(seconds(small), 0.05));
}

TEST_CASE("a quantised graph's mix of formats is told", "[report][profile]") {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "8"});
    graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT8);
    add_weights(graph, "w", {8, 16}, onnx::TensorProto::INT8);
    add_node(graph, "MatMulInteger", {"x", "w"}, {"y"}, "product");
    add_output(graph, "y");
    const GraphProfile profile = profile_of(import_model(model), 2);
    const auto document = nlohmann::json::parse(to_json(profile));
    CHECK(document.at("operators").at(0).at("precision") == "int8");
    CHECK(document.at("precisions").at(0).at("precision") == "int8");
    CHECK(document.at("precisions").at(0).at("macs") == 256);
    CHECK(document.at("weight_formats").at(0).at("bits") == 8);
    CHECK(document.at("weight_formats").at(0).at("parameters") == 128);
    const std::string text = render_text(describe(profile, {}), {});
    CHECK_THAT(text, Catch::Contains("int8 100.0 % of operations") && Catch::Contains("(8-bit 100.0 %)"));
}

TEST_CASE("totals that miss a part are withheld", "[report][profile]") {
    auto model = shared_weight_model();
    auto& unknown = add_node(*model.mutable_graph(), "Mystery", {"y"}, {"z"}, "mystery");
    unknown.set_domain("example.org");
    add_output(*model.mutable_graph(), "z");
    const GraphProfile profile = profile_of(import_model(model), 2);
    REQUIRE_FALSE(profile.complete);
    const auto withheld = nlohmann::json::parse(to_json(profile));
    CHECK(withheld.at("status") == "incomplete");
    CHECK(withheld.at("totals").at("macs").is_null());
    CHECK_FALSE(withheld.at("findings").empty());
    CHECK(withheld.at("operators").at(0).at("macs") == 128);
    CHECK(withheld.at("operators").at(3).at("macs").is_null());
    const auto allowed = nlohmann::json::parse(to_json(profile, GraphProfileView{.allow_unknown = true}));
    CHECK(allowed.at("totals").at("macs") == 256);
    CHECK(allowed.at("status") == "incomplete");

    const std::string text = render_text(describe(profile, {}), {});
    CHECK_THAT(text, Catch::Contains("withheld"));
    CHECK_THAT(text, Catch::Contains("mystery"));
}
