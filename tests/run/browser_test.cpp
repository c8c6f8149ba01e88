// The browser as a platform: which browser reaches which device, what a page gets of its memory, and code
// that knows vectors of 128 bits alone.

#include "archsim/run/session.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace archsim;

namespace {

Result in_browser(const std::string& model, const std::string& device, const std::string& stack,
                  const std::string& precision = "fp32") {
    const Session& session = test::shipped_session();
    Conditions conditions;
    conditions.stack = stack;
    conditions.precision = *PrecisionConfig::parse(precision);
    return session.estimate({.model = session.load(model)}, device, conditions);
}

} // namespace

TEST_CASE("every browser reaches the GPUs that have a driver for WebGPU, Safari those of Apple",
          "[browser]") {
    const HardwareDatabase& hardware = test::shipped_session().hardware();
    const auto webgpu = hardware.runtime("webgpu");
    int reached = 0;
    for (const std::string& id : hardware.device_ids()) {
        const auto device = hardware.device(id).device;
        INFO(id);
        for (const char* browser : {"webgpu-chrome", "webgpu-edge", "webgpu-firefox"})
            CHECK(hardware.runtime(browser)->serves(*device) == webgpu->serves(*device));
        CHECK(hardware.runtime("webgpu-safari")->serves(*device) ==
              (webgpu->serves(*device) && device->vendor == "Apple"));
        reached += webgpu->serves(*device);
    }
    CHECK(reached > 10);
    for (const char* stack : {"webgpu-chrome", "webgpu-edge", "webgpu-firefox", "webgpu-safari",
                              "webnn-chrome", "webnn-edge", "wasm"}) {
        const auto notes = hardware.runtime(stack)->notes;
        CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
            return note.find("Source: ") != std::string::npos;
        }));
    }
}

TEST_CASE("a page gets four gigabytes, however much the device has", "[browser]") {
    // 1.1 G parameters: 4.4 GB in fp32, half of it in fp16. The devices have 24 GB.
    for (const char* stack : {"webgpu", "webgpu-chrome"}) {
        const Result wide = in_browser("tinyllama-1.1b", "RTX-4090", stack);
        INFO(wide.estimate.reason);
        CHECK(wide.estimate.status == Status::does_not_fit);
        CHECK(wide.estimate.reason.find("gives one network 4.3 GB at most") != std::string::npos);
        CHECK(in_browser("tinyllama-1.1b", "RTX-4090", stack, "fp16").ok());
    }
    CHECK(in_browser("tinyllama-1.1b", "Ryzen-7950X", "wasm").estimate.status == Status::does_not_fit);
    CHECK(in_browser("tinyllama-1.1b", "Ryzen-7950X", "onnxruntime-cpu").ok());
    // A device with less than that has less in a page too.
    const Result small = in_browser("resnet18", "Arc-140V", "webgpu");
    CHECK(small.ok());
    CHECK(small.estimate.memory.capacity_bytes <= 4294967296.0);
}

TEST_CASE("WebAssembly has vectors of 128 bits and no fused multiply-add", "[browser]") {
    const auto times = [](const std::string& device) {
        const Result native = in_browser("resnet50", device, "onnxruntime-cpu"),
                     page = in_browser("resnet50", device, "wasm");
        INFO(device << ": " << native.estimate.reason << page.estimate.reason);
        REQUIRE(native.ok());
        REQUIRE(page.ok());
        return page.estimate.latency_s / native.estimate.latency_s;
    };
    // NEON is as wide: only the second instruction of a multiply-accumulate is lost.
    const double neon = times("Apple-M3-CPU"), avx2 = times("Core-i7-12700K");
    CHECK(neon > 1.3);
    CHECK(neon < 2.2);
    // Half of AVX2 is idle besides.
    CHECK(avx2 > 1.4 * neon);
    CHECK(avx2 < 4.5);
}
