#include "estimate/cold_start.hpp"

#include "laws/laws.hpp"
#include "map/gpu_machine.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace archsim;

namespace {

Machine machine_with(double base, double per_operator) {
    Machine machine = test::gpu_machine();
    auto stack = std::make_shared<Runtime>();
    stack->compile_base = test::fact(base);
    stack->compile_per_operator = test::fact(per_operator);
    machine.runtime = stack;
    return machine;
}

} // namespace

TEST_CASE("a cold start is build, weights and a warm inference", "[cold_start]") {
    Machine machine = machine_with(15, 0.5);
    test::set_rate(machine, Resource::host_link_bytes, 44e9);
    const ColdStart start = cold_start(machine, 122, 102e6, 1.2e-3);
    CHECK(start.build_s == Approx(76));
    CHECK(start.upload_s == Approx(2.318e-3).epsilon(1e-3));
    CHECK(start.first_s() == Approx(76 + 2.318e-3 + 1.2e-3));
}

TEST_CASE("parts built side by side wait for the largest one, and share the link", "[cold_start]") {
    Machine machine = machine_with(1, 0.02);
    test::set_rate(machine, Resource::host_link_bytes, 10e9);
    const ColdStart start = cold_start(machine, 300, 1e8, 5e-3, 180);
    CHECK(start.first_s() == Approx(1 + 6 + 0.01 + 0.005));
    CHECK(start.side_by_side_s() == Approx(1 + 3.6 + 0.01 + 0.005));
    const ColdStart whole = cold_start(machine, 300, 1e8, 5e-3);
    CHECK(whole.side_by_side_s() == whole.first_s());
}

TEST_CASE("a device in the host's memory copies its weights there", "[cold_start]") {
    Machine machine = machine_with(0, 0);
    auto device = std::make_shared<Device>();
    device->dram = Dram{};
    machine.device = device;
    CHECK(cold_start(machine, 1, 1e9, 0).upload_s == Approx(2e-3)); // 1 GB read and written at 1 TB/s
    test::set_rate(machine, Resource::dram_bytes, 0);
    CHECK(std::isnan(cold_start(machine, 1, 1e9, 0).first_s())); // unknown is not free
}

TEST_CASE("the first inference is never quicker than a warm one", "[cold_start][laws]") {
    std::vector<Finding> findings;
    for (const auto& device : laws::session().hardware().all_devices(findings)) {
        for (const std::string& name : device->runtimes) {
            CAPTURE(device->id, name);
            Conditions options;
            options.stack = name;
            const Machine machine = *laws::session().machine(device->id, options);
            const ColdStart small = cold_start(machine, 50, 1e7, 1e-3);
            const ColdStart large = cold_start(machine, 100, 1e8, 1e-3);
            if (small.link == nullptr) { // neither a link nor DRAM is published: unknown, not free
                CHECK(std::isnan(small.first_s()));
            } else {
                CHECK(small.first_s() > small.warm_s);
                CHECK(large.first_s() >= small.first_s());
            }
            REQUIRE(small.build != nullptr);
            CHECK(small.build->source != nullptr);
            if (small.before != nullptr)
                CHECK(large.build_s == 0);
        }
    }
}

TEST_CASE("what is compiled before it is deployed is not built by the device", "[cold_start]") {
    const auto before = [](const char* device) {
        return cold_start(*laws::session().machine(device, {}), 60, 1e6, 1e-3).before;
    };
    for (const char* device : {"STM32N6", "MAX78000", "Hailo-8", "Coral-Edge-TPU", "TDA4VM", "Ethos-U55-256"})
        REQUIRE(before(device) != nullptr);
    CHECK(before("Ethos-U55-256")->tool == "Vela");
    for (const char* device : {"A100", "Cortex-A76-RPi5"})
        CHECK(before(device) == nullptr);
}
