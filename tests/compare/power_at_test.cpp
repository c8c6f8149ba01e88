// Power x time = energy, wherever power is taken.

#include "archsim/compare/metric.hpp"
#include "archsim/run/session.hpp"
#include "estimate/wall_power.hpp"
#include "result/cost_terms.hpp"
#include "result/generation_metrics.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace archsim;
using archsim::test::shipped_session;

TEST_CASE("a module on a computer of the database has that one's idle power at the wall alone", "[compare]") {
    const Workload network{.model = shipped_session().load("resnet18")};
    Conditions int8;
    int8.precision = PrecisionConfig::uniform(Precision::int8);
    for (const auto& [module, idle_w] : {std::pair("Hailo-8L", 2.8), std::pair("Coral-Edge-TPU", 2.7)}) {
        const Result r = shipped_session().estimate(network, module, int8);
        CAPTURE(module, r.estimate.reason);
        REQUIRE(r.ok());
        const double chip = joules_at(*r.machine, 1, 1, PowerBoundary::chip);
        CHECK(joules_at(*r.machine, 1, 1, PowerBoundary::board) < chip + idle_w);
        CHECK(joules_at(*r.machine, 1, 1, PowerBoundary::wall) > chip + idle_w);
    }
}

TEST_CASE("a device that is named with its computer is taken at the wall everywhere", "[compare]") {
    const Session& session = shipped_session();
    const Workload network{.model = session.load("resnet18")};
    CostOptions chip, wall;
    chip.power_at = PowerBoundary::chip;
    wall.power_at = PowerBoundary::wall;
    const Result bare = session.estimate(network, "Hailo-8L", {});
    for (const char* name : {"Raspberry Pi 5 + Hailo-8L", "Pi 5 + Hailo", "raspberry pi 5 + Hailo-8L"}) {
        const Result named = session.estimate(network, name, {});
        CAPTURE(name);
        REQUIRE(named.ok());
        for (const Metric* m : {&metric::power, &metric::energy, &metric::efficiency}) {
            CHECK(*value_of(named, *m) == *value_of(named, *m, wall));
            CHECK(*value_of(named, *m, chip) == *value_of(bare, *m));
            CHECK(*value_of(bare, *m) == *value_of(bare, *m, chip));
        }
        CHECK(named.estimate.latency_s == bare.estimate.latency_s);
        const std::vector<Result> both = {bare, named};
        CHECK(on_one_basis(both, {}).power_at == PowerBoundary::wall);
        CHECK(on_one_basis(both, chip).power_at == PowerBoundary::chip);
    }
    CHECK(on_one_basis(std::vector<Result>{bare}, {}).power_at == PowerBoundary::chip);
    // Any computer with any module: that one's idle power.
    const DeviceChoice made = session.hardware().device("Raspberry Pi 4 + Coral USB");
    CHECK(made.device->id == "Coral-Edge-TPU");
    CHECK(made.device->in_computer);
    CHECK(made.device->host == "Cortex-A72-RPi4");
    CHECK(*value_of(session.estimate(network, "Raspberry Pi 4 + Coral USB", {}), metric::power) > 2.7);
    CHECK_THROWS_AS(session.hardware().device("Raspberry Pi 5 + Nothing"), InputError);
}

TEST_CASE("power times time is energy at every place where power is taken", "[compare][laws]") {
    for (const char* device : {"H100", "L4", "MI300X", "Apple-M4-GPU", "EPYC-9654"}) {
        const Result r = shipped_session().estimate(
            {.model = shipped_session().load("qwen3-0.6b"), .prompt = Prompt{.tokens = 256, .generate = 64}},
            device, {});
        CAPTURE(device, r.estimate.reason);
        REQUIRE(r.ok());
        REQUIRE(r.generation);
        for (const PowerBoundary at : {PowerBoundary::chip, PowerBoundary::board, PowerBoundary::wall}) {
            CAPTURE(name_of(at));
            CostOptions conditions;
            conditions.power_at = at;
            const GenerationEstimate g = generation_at(r, at);
            const double power = *value_of(r, metric::power, conditions);
            CHECK(power == Approx(g.power_per_device_w() * g.devices).epsilon(1e-6));
            CHECK(power * (g.time_to_first_token_s + (g.generate_tokens - 1) * g.time_per_output_token_s) ==
                  Approx(g.batch * g.energy_per_request_j()).epsilon(1e-6));
        }
    }
}

TEST_CASE("power times time is energy at every place on every device", "[compare][laws]") {
    const Workload network{.model = shipped_session().load("resnet18"), .batch = 2};
    std::vector<Finding> findings;
    std::size_t compared = 0;
    for (const auto& device : shipped_session().hardware().all_devices(findings))
        for (const Scenario scenario : {Scenario::latency, Scenario::throughput}) {
            Conditions conditions;
            conditions.precision = PrecisionConfig::uniform(Precision::int8);
            conditions.scenario = scenario;
            const Result r = shipped_session().estimate(network, device->id, conditions);
            if (!r.ok())
                continue;
            for (const PowerBoundary at : {PowerBoundary::chip, PowerBoundary::board, PowerBoundary::wall}) {
                CAPTURE(device->id, name_of(at), name_of(scenario));
                CostOptions taken;
                taken.power_at = at;
                const auto power = value_of(r, metric::power, taken),
                           energy = value_of(r, metric::energy, taken);
                REQUIRE(power.has_value() == energy.has_value());
                if (!power)
                    continue;
                CHECK(*power == Approx(*energy * r.estimate.throughput_per_s).epsilon(1e-9));
                ++compared;
            }
        }
    CHECK(compared > 1000);
}
