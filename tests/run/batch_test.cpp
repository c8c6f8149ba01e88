// The batch of a user's own file, however its first dimension is called.

#include "archsim/run/session.hpp"
#include "import/model_maker.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("items are counted whatever the file calls its batch", "[run]") {
    const Session session(
        {.data = ARCHSIM_SOURCE_DIR, .hardware_overlays = {}, .operators = {}, .mappers = {}});
    const auto file =
        std::filesystem::temp_directory_path() / ("archsim_batch_" + std::to_string(getpid()) + ".onnx");
    for (const char* leading : {"batch", "N", "", "1"}) {
        INFO(leading);
        onnx::ModelProto model = make_model();
        add_input(*model.mutable_graph(), "x", {leading, "64"});
        add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"}, "relu");
        add_output(*model.mutable_graph(), "y");
        std::ofstream(file, std::ios::binary) << model.SerializeAsString();
        for (const std::int64_t batch : {1, 8}) {
            const auto bound = session.bind(session.load(file.string()), batch);
            REQUIRE(bound->graph().complete());
            CHECK(bound->graph().operations() == 64.0 * static_cast<double>(batch));
            const Result result = run_graph(session, bound, "H100", Conditions{});
            REQUIRE(result.ok());
            CHECK(result.estimate.batch == static_cast<double>(batch));
            CHECK(result.estimate.throughput_per_s ==
                  Approx(static_cast<double>(batch) / result.estimate.latency_s));
            const auto smaller = bound->divided(2);
            CHECK((smaller != nullptr) == (batch == 8 && *leading != '1' && *leading != '\0'));
        }
    }
    std::filesystem::remove(file);
}

TEST_CASE("a batch takes as long whatever batches of its model were asked for before", "[run]") {
    const Session session(
        {.data = ARCHSIM_SOURCE_DIR, .hardware_overlays = {}, .operators = {}, .mappers = {}});
    const Model once = session.load("mobilenet_v2");
    for (const char* const device : {"TPU-v4", "Coral-Edge-TPU", "QRB5165", "H100"}) {
        INFO(device);
        for (const std::int64_t batch : {1, 4, 8, 2, 32, 12}) {
            INFO(batch);
            Workload asked{.model = once, .batch = batch};
            const Result known = session.estimate(asked, device, {});
            asked.model = session.load("mobilenet_v2"); // nothing was asked of this one
            const Result fresh = session.estimate(asked, device, {});
            REQUIRE(known.estimate.status == fresh.estimate.status);
            CHECK(known.estimate.latency_s == fresh.estimate.latency_s);
            CHECK(known.estimate.energy_per_inference_j == fresh.estimate.energy_per_inference_j);
            CHECK(known.estimate.memory.peak_bytes == fresh.estimate.memory.peak_bytes);
        }
    }
}
