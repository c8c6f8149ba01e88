// Laws on networks of the catalogue that were once broken.

#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;

namespace {

double latency(const std::string& model, const std::string& device, Precision precision,
               const DeviceChanges& changes = {}) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(precision);
    conditions.structure = changes;
    conditions.keep_subgraphs = false;
    const Result r = run_graph(laws::session(), laws::bound(model, 1), device, conditions);
    INFO(model << " on " << device << ": " << r.estimate.reason);
    REQUIRE(r.ok());
    return r.estimate.latency_s;
}

} // namespace

TEST_CASE("a network that fits a pipeline may still run in contexts", "[named_laws]") {
    DeviceChanges room;
    for (const char* model : {"resnet50", "vit_b_16", "mobilenet_v2", "efficientnet_v2_s"})
        for (const double factor : {1.5, 2.0, 4.0, 8.0}) {
            room[Structure::on_chip_memory] = factor;
            INFO(model << " with " << factor << "x the memory");
            const double base = latency(model, "Hailo-8", Precision::int8);
            CHECK(latency(model, "Hailo-8", Precision::int8, room) <= base * (1 + 1e-9));
            CHECK(base <= latency(model, "Hailo-8L", Precision::int8) * (1 + 1e-9));
        }
}

TEST_CASE("a larger array is not slower in a format that it does not multiply", "[named_laws]") {
    DeviceChanges array;
    array[Structure::array] = 2;
    for (const Precision precision : {Precision::fp32, Precision::bf16})
        CHECK(latency("resnet50", "Gaudi-3", precision, array) <=
              latency("resnet50", "Gaudi-3", precision) * (1 + 1e-9));
}

TEST_CASE("sums of large 8-bit tensors keep more than one of many cores busy", "[named_laws]") {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::int8);
    conditions.stack = "onnxruntime-cpu";
    conditions.keep_subgraphs = false;
    const Result narrow = run_graph(laws::session(), laws::bound("resnet50", 1), "EPYC-9654", conditions);
    conditions.precision = PrecisionConfig::uniform(Precision::fp32);
    const Result wide = run_graph(laws::session(), laws::bound("resnet50", 1), "EPYC-9654", conditions);
    REQUIRE(narrow.ok());
    REQUIRE(wide.ok());
    CHECK(narrow.estimate.latency_s < 1.2 * wide.estimate.latency_s);
}
