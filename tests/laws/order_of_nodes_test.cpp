// The order of nodes in a file means nothing: results are the same to the last bit.

#include "import/model_maker.hpp"
#include "laws/laws.hpp"
#include "support/random_source.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

void shuffle(onnx::GraphProto& graph, test::RandomSource& random) {
    for (int i = graph.node_size() - 1; i > 0; --i)
        graph.mutable_node()->SwapElements(i,
                                           static_cast<int>(random.below(static_cast<std::size_t>(i) + 1)));
    for (onnx::NodeProto& node : *graph.mutable_node())
        for (onnx::AttributeProto& attribute : *node.mutable_attribute())
            if (attribute.has_g())
                shuffle(*attribute.mutable_g(), random);
}

/// Everything that an estimate adds up to.
std::vector<double> numbers_of(const Result& r) {
    const Estimate& e = r.estimate;
    return {e.latency_s,
            e.throughput_per_s,
            e.energy_per_inference_j,
            e.power_w,
            e.utilization,
            e.memory.peak_bytes,
            e.memory.activation_bytes,
            e.latency_interval.high,
            e.clock_ratio,
            static_cast<double>(e.subgraphs.size())};
}

} // namespace

TEST_CASE("the order of nodes in a file changes no bit of a result", "[laws][import]") {
    const fs::path file = fs::temp_directory_path() / ("archsim-order-" + std::to_string(getpid()) + ".onnx");
    test::RandomSource random(11);
    std::size_t compared = 0;
    for (const char* name : {"resnet18", "bvlc_googlenet", "densenet121", "bert-base", "efficientdet-d0",
                             "mobilenet_v2", "yolov5m", "detr-resnet50"}) {
        const fs::path source = fs::path(ARCHSIM_SOURCE_DIR) / "models/onnx" / (std::string(name) + ".onnx");
        onnx::ModelProto model;
        REQUIRE(model.ParseFromString(test::read(source)));
        const Model before = laws::session().load(source.string());
        Bindings sizes;
        if (const CatalogueEntry* const entry = laws::session().catalogue().find(name))
            sizes.dims = entry->dims;
        shuffle(*model.mutable_graph(), random);
        std::ofstream(file, std::ios::binary) << model.SerializeAsString();
        const Model after = laws::session().load(file.string());
        for (const Precision precision : {Precision::fp16, Precision::int8})
            for (std::size_t i = 0; i < laws::hardware().size(); i += 1 + random.below(20)) {
                Conditions conditions;
                conditions.precision = PrecisionConfig::uniform(precision);
                if (random.percent(30))
                    conditions.scenario = Scenario::throughput;
                const std::string& device = laws::hardware()[i];
                const Result a = laws::session().estimate({.model = before, .sizes = sizes}, device,
                                                          conditions),
                             b = laws::session().estimate({.model = after, .sizes = sizes}, device,
                                                          conditions);
                INFO(name << " on " << device << " at " << name_of(precision));
                REQUIRE(a.estimate.status == b.estimate.status);
                if (!a.ok())
                    continue;
                ++compared;
                const std::vector<double> x = numbers_of(a), y = numbers_of(b);
                for (std::size_t k = 0; k < x.size(); ++k) {
                    INFO(k << ": " << x[k] << " and " << y[k]);
                    CHECK((x[k] == y[k] || (x[k] != x[k] && y[k] != y[k])));
                }
            }
    }
    fs::remove(file);
    CHECK(compared > 10);
}
