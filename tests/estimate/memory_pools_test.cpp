// Whether a network fits is said in one place, for every memory of a chip.

#include "archsim/hardware/family.hpp"
#include "archsim/run/session.hpp"
#include "estimate/memory_pools.hpp"
#include "result/memory_fit.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

Result in_int8(const char* model, const std::string& device) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::int8);
    return shipped_session().estimate({.model = shipped_session().load(model)}, device, conditions);
}

std::shared_ptr<const Device> device_of(const char* name) {
    return shipped_session().hardware().device(name).device;
}

double capacity(const char* device) {
    return shipped_session().machine(device, {})->memory_capacity_bytes;
}

constexpr double kGib = 1024.0 * 1024 * 1024;

} // namespace

TEST_CASE("the status and the table of memory agree on every device", "[estimate][laws]") {
    std::vector<Finding> findings;
    for (const auto& device : shipped_session().hardware().all_devices(findings))
        for (const char* model : {"tiny_resnet8", "mobilenet_v2", "vgg16"}) {
            const Result r = in_int8(model, device->id);
            CAPTURE(device->id, model, r.estimate.reason);
            const auto fit = memory_fit(r);
            if (!fit || (!r.ok() && r.estimate.status != Status::does_not_fit))
                continue;
            CHECK(fit->in_device() == r.ok());
        }
}

TEST_CASE("a card keeps its memory for itself: only what is shared with a host is shared out",
          "[estimate][laws]") {
    std::vector<Finding> findings;
    for (const auto& device : shipped_session().hardware().all_devices(findings)) {
        if (name_of(device->family) != "gpu" || !device->dram || !device->dram->capacity.known() ||
            device->host_link_type == "shared memory" || device->runtimes.empty())
            continue;
        CAPTURE(device->id);
        constexpr double kDriver = 0.22; // of 2 GB
        CHECK(shipped_session().machine(device->id)->memory_capacity_bytes >=
              (1 - kDriver) * device->dram->capacity.value);
    }
}

TEST_CASE("weights and data of a chip with a memory for each do not make room for each other", "[estimate]") {
    const auto kept = shipped_session().machine("MAX78000", {});
    const Machine& machine = *kept;
    MemoryEstimate memory;
    memory.capacity_bytes = machine.memory_capacity_bytes;
    const auto fits = [&](double weights, double data) {
        memory.weight_bytes = weights;
        memory.peak_bytes = weights + data;
        return memory_pools(memory, machine).fits();
    };
    CHECK(fits(405504, 1e5));
    CHECK(fits(442368, 512 * 1024));
    CHECK_FALSE(fits(479232, 0));
    CHECK_FALSE(fits(0, 513 * 1024));
}

TEST_CASE("every memory that is short is named, and no advice repeats the question", "[estimate][laws]") {
    const std::string reason = in_int8("mobilenet_v2", "STM32H747").estimate.reason;
    CHECK_THAT(reason, Catch::Contains("of RAM") && Catch::Contains("of flash"));
    const Model model = shipped_session().load("tiny_resnet8");
    int advised = 0;
    for (const char* device : {"nRF52840", "STM32H747", "STM32L4R5", "Groq-TSP"})
        for (const std::int64_t batch : {1, 8, 64}) {
            Conditions conditions;
            conditions.precision = PrecisionConfig::uniform(Precision::fp32);
            const Result r = shipped_session().estimate({.model = model, .batch = batch}, device, conditions);
            const auto fit = memory_fit(r);
            for (const FitOption& option : fit ? fit->device_options : std::vector<FitOption>{}) {
                INFO(device << ", batch " << batch << ", " << option.batch);
                CHECK((option.batch < r.work->batch || !(option.precision == r.work->precision)));
                conditions.precision = option.precision;
                const auto fewer = static_cast<std::int64_t>(option.batch);
                CHECK(shipped_session().estimate({.model = model, .batch = fewer}, device, conditions).ok());
                ++advised;
            }
        }
    CHECK(advised >= 4);
}

TEST_CASE("memory beside a microcontroller holds what its own does not, more slowly", "[estimate]") {
    const Result r = in_int8("yolo11n", "ESP32-P4");
    REQUIRE(r.ok());
    CHECK(r.estimate.latency_s > 0.5);
    CHECK(r.estimate.memory.peak_bytes - r.estimate.memory.weight_bytes >
          family_number(*device_of("ESP32-P4"), "ram").value);
    // What it has is all of them: 16 MB of flash, 768 KiB of RAM and 32 MiB beside it.
    CHECK(r.estimate.memory.capacity_bytes == Approx(16777216 + 768 * 1024 + 32 * 1024 * 1024));
}

TEST_CASE("a GPU has what its driver shows, less what the driver takes", "[estimate][hardware]") {
    CHECK(capacity("RTX-4090") > 25.2e9);
    CHECK(capacity("RTX-4090") < 25.76e9);
    CHECK(capacity("A100") > 85e9);
    CHECK(capacity("B200") > 191e9);
    CHECK(capacity("T4") < 16.11e9);
    std::vector<Finding> findings;
    for (const auto& device : shipped_session().hardware().all_devices(findings))
        if (name_of(device->family) == "gpu" && device->dram && device->id != "GB10") {
            CAPTURE(device->id); // a nameplate in powers of ten is no capacity
            CHECK(std::fmod(device->dram->capacity.value, 1e9) != 0);
        }
}

TEST_CASE("a Mac gives its GPU two thirds of a small memory and three quarters of a large one",
          "[estimate]") {
    CHECK(capacity("Apple-M4-GPU, 16GB") == Approx(2 * 16 * kGib / 3).epsilon(1e-3));
    CHECK(capacity("Apple-M4-GPU") == Approx(2 * 32 * kGib / 3).epsilon(1e-3));
    CHECK(capacity("Apple-M4-Max-GPU") == Approx(0.75 * 128 * kGib));
}

TEST_CASE("a processor has the memory of its computer, of whatever size, and its graphics a part of it",
          "[estimate][hardware]") {
    for (const char* board : {"Raspberry Pi 5 16GB", "Raspberry Pi 5, 16GB", "Ryzen 5 3600, 16GB"})
        CHECK(capacity(board) == Approx(16 * kGib - 2e9)); // of which the system keeps a part
    CHECK(capacity("Raspberry Pi 4 4GB") == Approx(4 * kGib * 7 / 8));
    CHECK(capacity("Ryzen AI Max+ 395, 64GB") == Approx(0.75 * 64 * kGib));
    CHECK_THROWS_AS(capacity("RTX 3060 16GB"), InputError); // a card is sold with its memory
}

TEST_CASE("a system keeps its part of a memory that programs share with it", "[estimate][hardware]") {
    for (const char* computer : {"Ryzen-7950X", "GB10", "RK3588-NPU"})
        CHECK(capacity(computer) == Approx(device_of(computer)->dram->capacity.value - 2e9));
    CHECK(capacity("Raspberry Pi 5") == Approx(7e9)); // at most an eighth
    CHECK(capacity("Jetson-Orin-Nano") == Approx(7 * kGib));
    CHECK(capacity("Radeon-8060S") == Approx(96 * kGib)); // the driver leaves less
    CHECK(capacity("Steam-Deck") == Approx(8 * kGib));
    CHECK(capacity("RTX-2080-Ti") > 11e9);                                      // nobody else's
    CHECK(capacity("ESP32-P4") == device_of("ESP32-P4")->dram->capacity.value); // no such system
}
