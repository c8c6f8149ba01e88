// Relations that hold for every operator of every model shipped with the project.

#include "archsim/extend/importer.hpp"
#include "archsim/extend/operator.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

/// Empty when the operator keeps the laws.
std::string broken_law(const ShapedGraph& graph, const Operator& op) {
    const OperatorWork& work = op.work;
    double macs = 0;
    for (const Contraction& c : work.contractions)
        macs += c.macs();
    if (std::abs(macs - work.macs) > 1e-9 * std::max(1.0, macs))
        return "the contractions do not add up to the multiply-accumulates";
    if (work.macs < 0 || work.vector_ops < 0 || work.special_ops < 0 || !std::isfinite(work.operations()))
        return "work is negative or not finite";
    if (work.kind == OpKind::free && work.operations() > 0)
        return "a free operator has work";
    if (op.folded && !op.outputs.empty() && work.kind == OpKind::free && work.macs > 0)
        return "a folded operator has work";
    for (const auto& [input, elements] : work.partial_reads) {
        if (input >= op.inputs.size() || op.inputs[input] == kNoTensor)
            return "a partial read of an absent input";
        if (elements < 0 || elements > graph.tensors[op.inputs[input]].elements() * (1 + 1e-12))
            return "more is read than the input holds";
    }
    for (const auto& [output, elements] : work.partial_writes)
        if (output >= op.outputs.size() || op.outputs[output] == kNoTensor ||
            elements > graph.tensors[op.outputs[output]].elements() * (1 + 1e-12))
            return "more is written than the output holds";
    for (const TensorId id : op.outputs)
        if (id != kNoTensor && !graph.tensors[id].known)
            return "output " + graph.tensors[id].name + " has no shape";
    return {};
}

/// One size for every symbol of the inputs: images and texts both stand it.
std::map<std::string, std::int64_t> any_sizes(const Graph& graph, std::int64_t side) {
    std::map<std::string, std::int64_t> sizes;
    for (const TensorId id : graph.inputs)
        if (const auto& shape = graph.tensors[id].shape)
            for (std::size_t axis = 0; axis < shape->size(); ++axis)
                if (!(*shape)[axis].symbol.empty())
                    sizes.emplace((*shape)[axis].symbol, axis == 0 ? 2 : side);
    return sizes;
}

} // namespace

TEST_CASE("every operator of every model keeps the laws of counting", "[ops][models]") {
    const fs::path root = fs::path(ARCHSIM_SOURCE_DIR) / "models" / "onnx";
    std::size_t models = 0;
    for (const auto& entry : fs::directory_iterator(root)) {
        if (entry.path().extension() != ".onnx")
            continue;
        const Graph graph = import_onnx(entry.path());
        // Some classifiers fit only 224-pixel images, some detectors whole multiples of 128, audio networks
        // need longer inputs.
        ShapedGraph bound;
        for (const std::int64_t side : {320, 224, 512, 1200})
            if (bound = archsim::bind(graph, {}, any_sizes(graph, side)); bound.complete())
                break;
        INFO(entry.path().filename().string());
        for (const Finding& f : bound.findings)
            if (f.severity == Severity::error)
                FAIL_CHECK(to_string(f));
        if (!bound.complete())
            continue;
        for (const Operator& op : bound.operators)
            if (const std::string law = broken_law(bound, op); !law.empty())
                FAIL_CHECK(op.name << " (" << op.type << "): " << law);
        ++models;
    }
    CHECK(models > 0);
}

TEST_CASE("doubling the batch doubles the products of a network without attention over the batch",
          "[ops][models]") {
    const fs::path model = fs::path(ARCHSIM_SOURCE_DIR) / "models" / "onnx" / "resnet50.onnx";
    const Graph graph = import_onnx(model);
    Bindings one, two;
    one.batch_size = 1;
    two.batch_size = 2;
    const std::map<std::string, std::int64_t> image = {{"height", 224}, {"width", 224}};
    const ShapedGraph a = archsim::bind(graph, one, image), b = archsim::bind(graph, two, image);
    CHECK(b.macs() == 2 * a.macs());
    CHECK(b.operations() == 2 * a.operations());
    CHECK(b.parameters() == a.parameters());
}

TEST_CASE("every row of the operator table is complete", "[ops]") {
    const auto rows = OperatorRegistry::standard().rows();
    CHECK(rows.size() > 300);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const OperatorRow& row = rows[i];
        INFO(row.domain << "." << row.name);
        CHECK_FALSE(row.doc.empty());
        CHECK(row.since >= 1);
        // The engine walks the networks in their attributes.
        constexpr std::array kControl = {"If",         "Loop",         "Scan",     "SequenceMap",
                                         "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"};
        const bool control = std::find(kControl.begin(), kControl.end(), row.name) != kControl.end();
        CHECK((row.infer != nullptr) != control);
        if (i > 0)
            CHECK((rows[i - 1].name != row.name || rows[i - 1].domain != row.domain));
        CHECK(OperatorRegistry::standard().find(row.domain, row.name) == &row);
    }
    CHECK(OperatorRegistry::standard().find("ai.onnx", "Conv") ==
          OperatorRegistry::standard().find("", "Conv"));
    CHECK(OperatorRegistry::standard().find("", "Frobnicate") == nullptr);
}

TEST_CASE("a user can add an operator", "[ops]") {
    OperatorRegistry registry = OperatorRegistry::standard();
    OperatorRow row;
    row.name = "Frobnicate";
    row.domain = "my.domain";
    row.infer = [](NodeContext& c) { c.set_output(0, c.type(0), c.shape(0)); };
    row.work = [](NodeContext& c) { c.work().vector_ops = 3 * c.elements(0); };
    row.doc = "an operator of one's own";
    registry.add(row);
    Graph graph;
    Tensor x, y;
    x.name = "x";
    x.type = DataType::float32;
    x.role = TensorRole::input;
    x.shape = std::vector<Dimension>{{4, ""}, {5, ""}};
    y.name = "y";
    graph.tensors = {x, y};
    graph.inputs = {0};
    graph.outputs = {1};
    Node node;
    node.name = "n";
    node.op_type = "Frobnicate";
    node.domain = "my.domain";
    node.inputs = {0};
    node.outputs = {1};
    graph.nodes = {node};
    CHECK_FALSE(archsim::bind(graph, {}, {}).complete());
    const ShapedGraph bound = archsim::bind(graph, {}, {}, registry);
    REQUIRE(bound.complete());
    CHECK(bound.operations() == 60);
    CHECK(bound.tensors[1].shape == Shape{4, 5});
}
