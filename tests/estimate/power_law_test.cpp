// Laws of power: faster work draws more, idle time is paid for, boards and walls draw more than chips.

#include "laws/laws.hpp"

#include "estimate/wall_power.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

using namespace archsim;

namespace {

/// The same chip with half as much memory bandwidth again.
Machine with_faster_memory(const Result& r) {
    auto device = std::make_shared<Device>(*r.device);
    if (device->dram)
        device->dram->bandwidth.value *= 1.5;
    MachineOptions options;
    options.scenario = r.machine->scenario;
    options.energy = r.machine->energy;
    return make_machine(std::move(device), r.power_mode, r.machine->runtime, options);
}

} // namespace

TEST_CASE("the same work in less time draws more power, up to the limit", "[laws][power]") {
    for (const char* hardware :
         {"H100", "A100", "B200", "T4", "TPU-v4", "QCS8550", "Jetson-AGX-Orin", "Hailo-8"})
        for (const char* model : {"resnet50", "mobilenet_v2", "bert-base"}) {
            const Result r = laws::run(model, hardware, Precision::int8);
            INFO(model << " on " << hardware);
            if (!r.ok() || !r.device->dram)
                continue;
            const Machine faster = with_faster_memory(r);
            const Estimate e = laws::run_on(model, faster, Precision::int8);
            CHECK(e.latency_s <= r.estimate.latency_s * (1 + 1e-9));
            CHECK(e.power_w >= r.estimate.power_w * (1 - 1e-4)); // a limit is met by bisection
            if (const double limit = std::max(faster.power_limit_w, faster.power_budget_w); limit > 0)
                CHECK(e.power_w <= limit * (1 + 1e-6));
        }
}

TEST_CASE("an inference alone spends at least as much as one of eight", "[laws][power]") {
    for (const char* hardware : {"H100", "B200", "T4", "TPU-v4", "QCS8550", "Jetson-AGX-Orin"})
        for (const char* model : {"resnet50", "mobilenet_v2"}) {
            INFO(model << " on " << hardware);
            const Result one = laws::run(model, hardware, Precision::int8);
            const Result eight = laws::run(model, hardware, Precision::int8, 8);
            REQUIRE(one.ok());
            REQUIRE(eight.ok());
            CHECK(one.estimate.energy.total() >=
                  eight.estimate.energy.total() / 8 * 0.98); // tiles of a larger batch may read more
        }
}

TEST_CASE("power grows from chip to board to wall", "[laws][power]") {
    for (const char* hardware : {"H100", "DPU-ZCU102", "QRB5165", "Jetson-AGX-Orin", "Xeon-8480+"}) {
        INFO(hardware);
        const Result r = laws::run("resnet50", hardware, Precision::int8);
        REQUIRE(r.ok());
        for (const double devices : {1.0, 8.0}) {
            const WallPower wall = wall_power(*r.machine, r.estimate.power_w, devices);
            CHECK(wall.at(PowerBoundary::chip) == Approx(devices * r.estimate.power_w));
            CHECK(wall.at(PowerBoundary::rail) == wall.at(PowerBoundary::chip));
            CHECK(wall.at(PowerBoundary::board) >= wall.at(PowerBoundary::module));
            CHECK(wall.at(PowerBoundary::wall) > wall.at(PowerBoundary::board));
            CHECK(wall.at(PowerBoundary::wall) == wall.total());
        }
    }
    for (const PowerBoundary boundary : {PowerBoundary::rail, PowerBoundary::chip, PowerBoundary::module,
                                         PowerBoundary::board, PowerBoundary::wall})
        CHECK(parse_power_boundary(name_of(boundary)) == boundary);
    CHECK_FALSE(parse_power_boundary("socket"));
}
