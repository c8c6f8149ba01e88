// Laws of power: faster work draws more, idle time is paid for, boards and walls draw more than devices.

#include "laws/laws.hpp"

#include "estimate/price.hpp"
#include "estimate/wall_power.hpp"
#include "session/graph_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>

using namespace archsim;
using laws::host_power;

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

/// The narrowest format that a device and its stack run; absent where they run none.
std::optional<Precision> narrowest(const std::string& model, const std::string& hardware) {
    for (const Precision p : {Precision::int8, Precision::fp16, Precision::bf16, Precision::fp32})
        if (laws::run(model, hardware, p).ok())
            return p;
    return std::nullopt;
}

/// The most that a device may draw on average: its limit, or its stated power where nothing limits it.
double most_power(const Machine& machine) {
    return std::max(machine.power_limit_w, machine.power_budget_w);
}

bool draws(const Result& r) {
    return r.ok() && r.machine->energy != nullptr && r.estimate.power_w > 0;
}

} // namespace

TEST_CASE("the same work in less time draws more power, up to the limit", "[laws][energy][power]") {
    std::size_t checked = 0;
    for (const std::string& hardware : laws::hardware())
        for (const char* model : {"resnet50", "bert-base"}) {
            INFO(model << " on " << hardware);
            const auto format = narrowest(model, hardware);
            if (!format)
                continue;
            const Result r = laws::run(model, hardware, *format);
            if (!draws(r) || !r.device->dram)
                continue;
            const Estimate e = laws::run_on(model, with_faster_memory(r), *format);
            CHECK(e.latency_s <= r.estimate.latency_s * (1 + 1e-6)); // a limit is met by bisection
            CHECK(e.power_w >= r.estimate.power_w * (1 - 1e-4));
            ++checked;
        }
    CHECK(checked > 100);
}

TEST_CASE("average power never passes the limit or the stated power, on every device", "[laws][power]") {
    for (const std::string& hardware : laws::hardware())
        for (const char* model : {"resnet50", "mobilenet_v2", "bert-base"}) {
            const auto format = narrowest(model, hardware);
            if (!format)
                continue;
            for (const int batch : {1, 8, 64}) {
                INFO(model << " at " << batch << " on " << hardware);
                const Result r = laws::run(model, hardware, *format, batch);
                if (!draws(r))
                    continue;
                if (const double most = most_power(*r.machine); most > 0)
                    CHECK(r.estimate.power_w <= (most * r.devices() + laws::host_power(r)) * (1 + 1e-6));
                CHECK(r.estimate.power_w >=
                      static_power_at(*r.machine, r.estimate.clock_ratio) * r.devices() * (1 - 1e-9));
            }
        }
}

TEST_CASE(
    "a budget that is an estimate holds what is changed about a chip by its clock, at the prices of the chip",
    "[laws][energy][power]") {
    std::size_t checked = 0;
    for (const std::string& hardware : laws::hardware()) {
        const auto format = narrowest("resnet50", hardware);
        if (!format)
            continue;
        const Result now = laws::run("resnet50", hardware, *format);
        if (!draws(now) || now.machine->power_budget_w <= 0 || now.estimate.energy_scale >= 1)
            continue;
        INFO(hardware);
        Conditions changed{.precision = PrecisionConfig::uniform(*format)};
        const auto run = [&](Lever lever, double factor) {
            changed.changes = {};
            changed.changes[lever] = factor;
            return run_graph(laws::session(), laws::bound("resnet50", 1), hardware, changed);
        };
        const double budget = now.machine->power_budget_w;
        const Result tight = run(Lever::power_limit, 0.8), wide = run(Lever::power_limit, 2),
                     fast = run(Lever::bandwidth, 4);
        if (tight.ok()) { // else static power alone takes all of it
            CHECK(tight.estimate.power_w <= 0.8 * budget * (1 + 1e-3) + host_power(tight));
            CHECK(tight.estimate.latency_s > now.estimate.latency_s);
        }
        REQUIRE(wide.ok());
        CHECK(wide.estimate.latency_s == Approx(now.estimate.latency_s));
        CHECK(wide.estimate.energy.total() == Approx(now.estimate.energy.total()));
        REQUIRE(fast.ok());
        CHECK(fast.estimate.power_w <= budget * (1 + 1e-3) + host_power(fast));
        CHECK(fast.estimate.latency_s <= now.estimate.latency_s * (1 + 1e-6));
        ++checked;
    }
    CHECK(checked > 10);
}

// A larger batch may read its weights once for all: where each inference then moves less, the device may draw
// less although its arithmetic is used more. Where an inference spends as much on its events, used more means
// drawing more.
TEST_CASE("a device that is used more draws more", "[laws][energy][power]") {
    std::size_t checked = 0;
    for (const std::string& hardware : laws::hardware())
        for (const char* model : {"resnet50", "mobilenet_v2"}) {
            INFO(model << " on " << hardware);
            const auto format = narrowest(model, hardware);
            if (!format)
                continue;
            const Result one = laws::run(model, hardware, *format),
                         eight = laws::run(model, hardware, *format, 8);
            if (!draws(one) || !draws(eight))
                continue;
            INFO(one.estimate.utilization << " of the peak at " << one.estimate.power_w << " W, "
                                          << eight.estimate.utilization << " at " << eight.estimate.power_w);
            const auto events = [](const Estimate& e) {
                return (e.energy.total() - e.energy.static_joules) / e.batch;
            };
            if (eight.estimate.utilization > one.estimate.utilization &&
                events(eight.estimate) >= 0.99 * events(one.estimate)) {
                CHECK(eight.estimate.power_w >= one.estimate.power_w * 0.98);
                ++checked;
            }
        }
    CHECK(checked > 20);
}

TEST_CASE("an inference alone spends at least as much as one of eight where idling dominates",
          "[laws][energy][power]") {
    std::size_t checked = 0;
    for (const std::string& hardware : laws::hardware())
        for (const char* model : {"resnet50", "mobilenet_v2"}) {
            INFO(model << " on " << hardware);
            const auto format = narrowest(model, hardware);
            if (!format)
                continue;
            const Result one = laws::run(model, hardware, *format),
                         eight = laws::run(model, hardware, *format, 8);
            if (!draws(one) || !draws(eight) ||
                one.estimate.energy.static_joules < 0.5 * one.estimate.energy.total() ||
                eight.estimate.throughput_per_s < one.estimate.throughput_per_s) // it left a cache
                continue;
            CHECK(one.estimate.energy.total() >= eight.estimate.energy.total() / 8 * (1 - 1e-6));
            ++checked;
        }
    CHECK(checked > 50);
}

TEST_CASE("power grows from chip to board to wall", "[laws][power]") {
    for (const char* hardware : {"H100", "DPU-ZCU102", "QRB5165", "Jetson-AGX-Orin", "Xeon-8480+", "GB10",
                                 "Apple-M4-GPU", "Raspberry Pi 5"}) {
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
        CHECK(value_named<PowerBoundary>(name_of(boundary)) == boundary);
    CHECK_FALSE(value_named<PowerBoundary>("socket"));
}

// H100: 218 of 223 W follow the clock as f V^2, V^2 ~ f: at 0.7 of it 5 + 218 x 0.49.
TEST_CASE("what follows the clock falls with it, the memory stands by", "[power]") {
    const Result r = laws::run("resnet50", "H100", Precision::fp16);
    REQUIRE(r.ok());
    const Machine& m = *r.machine;
    const double clocked = m.energy->clocked_power.value;
    CHECK(static_power_at(m, 1) == m.static_power_w);
    CHECK(static_power_at(m, 0.7) == Approx(m.static_power_w - 0.51 * clocked));
    const Result whole = laws::run("resnet50", "A100", Precision::fp16); // nobody told its clocks apart
    REQUIRE(whole.ok());
    CHECK(static_power_at(*whole.machine, 0.7) == whole.machine->static_power_w);
}
