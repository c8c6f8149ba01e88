// Processors that compute in RAM and leave weights in flash: both are limits of their own.

#include "archsim/hardware/family.hpp"
#include "archsim/run/session.hpp"

#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

const std::vector<std::string> kTiny = {"tiny_ds_cnn", "tiny_resnet8", "tiny_mobilenet_v1",
                                        "tiny_autoencoder"};

std::vector<std::shared_ptr<const Device>> microcontrollers() {
    std::vector<Finding> findings;
    std::vector<std::shared_ptr<const Device>> found;
    for (const auto& device : shipped_session().hardware().all_devices(findings))
        if (family_number(*device, "ram").known())
            found.push_back(device);
    return found;
}

Result in_int8(const std::string& model, const std::string& device, const MachineChanges& changes = {}) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::int8);
    conditions.changes = changes;
    return shipped_session().estimate({.model = shipped_session().load(model)}, device, conditions);
}

} // namespace

TEST_CASE("a network runs on a microcontroller when its weights fit into flash and the rest into RAM",
          "[cpu]") {
    const auto parts = microcontrollers();
    REQUIRE(parts.size() >= 5);
    for (const auto& part : parts)
        for (const char* model :
             {"tiny_ds_cnn", "tiny_resnet8", "tiny_mobilenet_v1", "tiny_autoencoder", "mobilenet_v1_025",
              "mobilenet_v2", "squeezenet1_1", "conv2d_3x3_256", "matmul_512"}) {
            CAPTURE(part->id, model);
            const Result result = in_int8(model, part->id);
            const MemoryEstimate& memory = result.estimate.memory;
            const double rest = memory.peak_bytes - memory.weight_bytes;
            const bool has_ram =
                rest <= family_number(*part, "ram").value + family_number(*part, "external_ram").value_or(0);
            const bool has_flash = memory.weight_bytes <= part->dram->capacity.value;
            CHECK(result.ok() == (has_ram && has_flash));
            if (!has_ram)
                CHECK_THAT(result.estimate.reason, Catch::Contains("of RAM, the part has"));
            else if (!has_flash)
                CHECK_THAT(result.estimate.reason, Catch::Contains("of flash for its weights, the part has"));
        }
}

TEST_CASE("MLPerf Tiny's networks run on every microcontroller, within what its units can do", "[cpu]") {
    for (const auto& part : microcontrollers())
        for (const std::string& model : kTiny) {
            CAPTURE(part->id, model);
            const Result result = in_int8(model, part->id);
            REQUIRE(result.ok());
            CHECK(result.estimate.utilization <= 1);
            CHECK(result.estimate.energy_per_inference_j > 0);
            // Every weight is read in flash once per inference.
            CHECK(result.estimate.latency_s >=
                  result.estimate.memory.weight_bytes / part->dram->bandwidth.value);
        }
}

TEST_CASE("flash that is read faster never makes an inference slower", "[cpu][laws]") {
    for (const auto& part : microcontrollers())
        for (const std::string& model : kTiny) {
            CAPTURE(part->id, model);
            MachineChanges faster;
            faster[Lever::bandwidth] = 2;
            CHECK(in_int8(model, part->id, faster).estimate.latency_s <=
                  in_int8(model, part->id).estimate.latency_s * (1 + 1e-6));
        }
}
