// Changes of a model that are done on its graph: what they keep, what they change, what they bring.

#include "answers/portability/rewrites.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

std::shared_ptr<const BoundModel> bound_to(const Model& model, const std::shared_ptr<const Graph>& graph) {
    ImportedGraph changed = model;
    changed.graph = graph;
    return laws::session().bind(changed, 1);
}

std::vector<Shape> shapes_returned(const ShapedGraph& graph) {
    std::vector<Shape> shapes;
    for (TensorId id : graph.outputs)
        shapes.push_back(graph.tensors[id].shape);
    return shapes;
}

} // namespace

TEST_CASE("a depthwise convolution and its 1x1 become one dense one with the arithmetic of both windows",
          "[advice]") {
    for (const char* name : {"mobilenet_v2", "efficientnet_b0", "mobilenet_v3_large", "shufflenet_v2_x1_0"}) {
        const Model model = laws::session().load(name);
        const auto before = laws::session().bind(model, 1);
        for (const Pointwise side : {Pointwise::before, Pointwise::after}) {
            CAPTURE(name, static_cast<int>(side));
            const auto channels = separable_channels(*model.graph, side);
            std::size_t last = 0;
            for (const std::int64_t limit : channels) {
                const auto [graph, places] = with_dense_windows(*model.graph, side, limit);
                REQUIRE(graph);
                CHECK(places > last); // each number of channels has pairs of its own
                last = places;
                const auto after = bound_to(model, graph);
                REQUIRE(after->graph().complete());
                CHECK(shapes_returned(after->graph()) == shapes_returned(before->graph()));
                CHECK(after->graph().macs() > before->graph().macs());
            }
            if (!channels.empty())
                CHECK(with_dense_windows(*model.graph, side, *channels.begin() - 1).first == nullptr);
        }
    }
    // By hand: the first of MobileNetV2's blocks has a depthwise 3x3 of 32 channels on 112 x 112 and a 1x1 to
    // 16: 112^2 (32 x 9 + 32 x 16) become 112^2 x 9 x 32 x 16.
    const Model model = laws::session().load("mobilenet_v2");
    const auto [graph, places] = with_dense_windows(*model.graph, Pointwise::after, 32);
    CHECK(places == 1);
    CHECK(bound_to(model, graph)->graph().macs() - laws::session().bind(model, 1)->graph().macs() ==
          112.0 * 112 * (9 * 32 * 16 - 32 * 9 - 32 * 16));
    CHECK(separable_channels(*laws::session().load("resnet18").graph, Pointwise::after).empty());
}

TEST_CASE("heads of another size multiply as much and return the same shapes", "[advice]") {
    int changed = 0;
    for (const char* name : {"bert-base", "vit_b_16", "gpt2", "clip-vit-b32-vision", "deit-small"}) {
        if (laws::session().catalogue().find(name) == nullptr)
            continue;
        CAPTURE(name);
        const Model model = laws::session().load(name);
        if (!model.graph)
            continue;
        const auto before = laws::session().bind(model, 1);
        const auto from = head_sizes(before->graph(), 1);
        REQUIRE(from);
        CAPTURE(from->heads, from->size);
        const HeadSizes to{from->heads / 2, from->size * 2};
        const auto [graph, places] = with_head_sizes(*model.graph, *from, to);
        if (!graph)
            continue;
        const auto after = bound_to(model, graph);
        if (!after->graph().complete())
            continue;
        CHECK(keeps_work(before->graph(), after->graph(), to, 1));
        CHECK_FALSE(keeps_work(before->graph(), after->graph(), *from, 1));
        CHECK(shapes_returned(after->graph()) == shapes_returned(before->graph()));
        ++changed;
    }
    CHECK(changed >= 2);
    const auto base = head_sizes(laws::bound("bert-base", 1)->graph(), 1);
    CHECK(base == HeadSizes{12, 64});
    CHECK_FALSE(head_sizes(laws::bound("resnet18", 1)->graph(), 1).has_value());
}

TEST_CASE("quantised nodes run in int8, the others as before", "[advice]") {
    const Model model = laws::session().load("resnet18");
    std::set<std::string> names;
    for (const Node& node : model.graph->nodes)
        if (node.op_type == "Conv" && names.size() < 3)
            names.insert(node.name);
    const auto [graph, places] = with_quantized_nodes(*model.graph, names);
    REQUIRE(graph);
    CHECK(places == 3);
    const auto before = laws::session().bind(model, 1), after = bound_to(model, graph);
    REQUIRE(after->graph().complete());
    CHECK(after->graph().macs() == before->graph().macs());
    CHECK(after->graph().parameters() == before->graph().parameters());
    for (const Operator& op : after->graph().operators)
        if (op.work.kind == OpKind::convolution) {
            CAPTURE(op.name);
            CHECK((op.native_precision == Precision::int8) == names.contains(op.name));
        }
    CHECK(with_quantized_nodes(*model.graph, {"no such node"}).first == nullptr);
}
