// What leaves an accelerator: shares that add up to the estimate, rewrites that keep what the model computes.

#include "answers/portability/check_model.hpp"
#include "answers/portability/rewrites.hpp"
#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace archsim;

namespace {

PortabilityAnswer portability(const std::string& model, const std::vector<std::string>& hardware) {
    PortabilityRequest request;
    request.model = model;
    request.hardware = hardware;
    request.conditions.precision = PrecisionConfig::uniform(Precision::int8);
    return check_model(laws::session(), std::move(request));
}

std::vector<Shape> output_shapes(const ShapedGraph& graph) {
    std::vector<Shape> shapes;
    for (TensorId id : graph.outputs)
        shapes.push_back(graph.tensors[id].shape);
    return shapes;
}

} // namespace

TEST_CASE("a plain convolutional network stays on its accelerator", "[portability]") {
    const PortabilityAnswer answer = portability("resnet18", {"Hailo-8", "Coral-Edge-TPU", "H100"});
    for (const Portability& p : answer.devices) {
        CAPTURE(p.result.hardware);
        REQUIRE(p.result.ok());
        CHECK(p.operators > 20);
        CHECK(p.leaving == 0);
        CHECK(p.islands == 1);
        CHECK(p.fallback_s == 0);
        CHECK(p.operations_share == 1);
        CHECK(p.types.empty());
    }
}

TEST_CASE("a transformer leaves an NPU at every normalisation, and primitives keep it there",
          "[portability]") {
    const PortabilityAnswer answer = portability("vit_b_16", {"RK3588-NPU"});
    const Portability& p = answer.devices.front();
    REQUIRE(p.result.ok());
    std::size_t normalisations = 0, named = 0;
    double fallback = 0;
    for (const LeavingOperators& t : p.types) {
        named += t.names.size();
        fallback += t.total_s();
        CHECK(t.host_s >= 0);
        CHECK(t.switch_s > 0);
        if (t.type == "LayerNormalization")
            normalisations = t.names.size();
    }
    CHECK(normalisations == 25); // two in each of twelve layers, one at the end
    CHECK(named == p.leaving);
    CHECK(fallback == Approx(p.fallback_s));
    CHECK(p.fallback_s < p.result.estimate.latency_s);
    CHECK(p.islands > 12);
    REQUIRE(!p.rewrites.empty());
    for (const RewriteOutcome& o : p.rewrites) {
        CHECK(o.latency_s < p.result.estimate.latency_s);
        CHECK(o.leaving <= p.leaving);
    }
    CHECK(std::any_of(p.rewrites.begin(), p.rewrites.end(),
                      [&](const RewriteOutcome& o) { return o.leaving < p.leaving; }));
}

TEST_CASE("what depends on the first operator that an Edge TPU refuses runs on the host", "[portability]") {
    const PortabilityAnswer answer = portability("vit_b_16", {"Coral-Edge-TPU"});
    const Portability& p = answer.devices.front();
    REQUIRE(p.result.ok());
    CHECK(p.islands == 1);
    CHECK(p.leaving > p.operators / 2);
    CHECK(p.leaving < p.operators);
    // One hand-over: the program on the chip ends once.
    double hand_over = 0;
    for (const LeavingOperators& t : p.types)
        hand_over += t.switch_s;
    CHECK(hand_over == Approx(p.result.machine->param(Parameter::fallback_switch, 0)).epsilon(1e-6));
    CHECK(p.fallback_s < p.result.estimate.latency_s);
}

TEST_CASE("rewrites keep a model whole and the shapes of what it returns", "[portability]") {
    std::size_t done = 0;
    for (const std::string& model : laws::models()) {
        const Model loaded = laws::session().load(model);
        if (!loaded.graph)
            continue;
        const auto before = laws::session().bind(loaded, 1);
        for (const Rewrite& rewrite : known_rewrites()) {
            CAPTURE(model, rewrite.name);
            const auto [graph, places] = rewritten(*loaded.graph, rewrite);
            CHECK((graph == nullptr) == (places == 0));
            if (!graph)
                continue;
            ++done;
            ImportedGraph changed = loaded;
            changed.graph = graph;
            const auto after = laws::session().bind(changed, 1);
            CHECK(after->graph().complete() == before->graph().complete());
            if (rewrite.name != "cut_post_processing")
                CHECK(output_shapes(after->graph()) == output_shapes(before->graph()));
            if (rewrite.name == "layer_norm_as_primitives" || rewrite.name == "einsum_as_matmul")
                CHECK(after->graph().macs() == before->graph().macs());
        }
    }
    CHECK(done >= 4);
}

TEST_CASE("channels at multiples of a tile make another network that fits together", "[portability]") {
    for (const char* model : {"resnet18", "mobilenet_v2", "vgg16"}) {
        CAPTURE(model);
        const Model loaded = laws::session().load(model);
        const auto before = laws::session().bind(loaded, 1);
        const auto [graph, places] = with_rounded_channels(*loaded.graph, 48);
        REQUIRE(graph);
        CHECK(places > 10);
        ImportedGraph changed = loaded;
        changed.graph = graph;
        const auto after = laws::session().bind(changed, 1);
        // VGG flattens 7 x 7 pixels into a product: 49 times another number of channels fits no multiple.
        CHECK(after->graph().complete() == (std::string(model) != "vgg16"));
        if (after->graph().complete())
            CHECK(output_shapes(after->graph()) == output_shapes(before->graph()));
        if (std::string(model) == "resnet18") {
            REQUIRE(after->graph().complete());
            CHECK(after->graph().macs() != before->graph().macs());
            for (const Operator& op : after->graph().operators)
                if (op.work.window && op.work.kind == OpKind::convolution)
                    CHECK(static_cast<int>(op.work.window->out_channels) % 48 == 0);
        }
        // What is at multiples already stays.
        CHECK(with_rounded_channels(*laws::session().load("resnet18").graph, 64).second == 0);
    }
}

TEST_CASE("advice is at most what was asked for, each faster than the model, best first", "[portability]") {
    PortabilityRequest request;
    request.model = "mobilenet_v2";
    request.hardware = {"H100", "Xeon-8490H"};
    request.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    request.advice = 5;
    for (const Portability& p : check_model(laws::session(), request).devices) {
        CAPTURE(p.result.hardware);
        REQUIRE(p.result.ok());
        CHECK(p.advice.size() <= 5);
        double last = 0;
        for (const RewriteOutcome& o : p.advice) {
            CHECK(o.per_item() < p.result.estimate.latency_s);
            CHECK(o.per_item() >= last);
            last = o.per_item();
        }
    }
}
