// Totals of an estimate from stated counts, worked by hand.

#include "counted_network.hpp"
#include "estimate/schedule.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;
using namespace archsim::test;

namespace {

/// A: 4 ms of compute (2 ms at full rate), 1 ms of memory, 1 ms of overhead, twice; B: 1 ms and 6 ms, once;
/// 2 ms for the network.
struct TwoLayers {
    CountedNetwork network{2, 4};
    std::shared_ptr<StatedCounts> counts = std::make_shared<StatedCounts>();
    Mapping a, b;
    Machine machine = priced_machine(counts);

    TwoLayers() {
        a.add(Resource::matrix_cycles, Lane::compute, 2e6, 0.5);
        a.add(Resource::dram_bytes, Lane::memory, 1e9);
        a.add(Resource::seconds, Lane::overhead, 1e-3);
        a.ideal_cycles = 2e6;
        a.workspace_bytes = 100;
        a.events.mac(Precision::fp16) = 1e9;
        a.events[Event::dram_byte] = 1e9;
        b.add(Resource::matrix_cycles, Lane::compute, 1e6);
        b.add(Resource::dram_bytes, Lane::memory, 6e9);
        b.ideal_cycles = 1e6;
        b.workspace_bytes = 300;
        b.events[Event::dram_byte] = 6e9;
        counts->network.fixed.add(Resource::seconds, Lane::overhead, 2e-3);
        network.work.subgraphs[0].repeat = 2;
        network.work.weight_bytes = 1000;
        network.work.memory.arena_bytes = 500;
        network.work.memory.kv_cache_bytes = 50;
    }
    Estimate run() {
        counts->of_batch(network.work.batch, {a, b});
        return estimate(network.work, machine, {});
    }
};

constexpr double kMilli = 1e-3;

} // namespace

TEST_CASE("estimate: times, utilisation, energy and power of two layers", "[formulas][estimate]") {
    const Estimate e = TwoLayers().run();
    REQUIRE(e.status == Status::ok);
    CHECK(e.latency_s == Approx((2 * 5 + 6 + 2) * kMilli));
    CHECK(e.throughput_per_s == Approx(4 / 18e-3));
    CHECK(e.network_s == Approx(2 * kMilli));
    CHECK(e.utilization == Approx(5 / 18.0));
    CHECK(e.utilization_max == Approx(2 / 5.0));
    CHECK(e.utilization_min == Approx(1 / 6.0));
    CHECK(e.compute_bound == 1);
    CHECK(e.memory_bound == 1);
    CHECK(e.overhead_bound == 0);
    CHECK(e.events[Event::dram_byte] == 8e9);
    CHECK(e.events.macs[static_cast<std::size_t>(Precision::fp16)] == 2e9);
    // 2e9 x 2 pJ + 8e9 x 10 pJ + 10 W x 18 ms
    CHECK(e.energy[Event::mac] == Approx(4 * kMilli));
    CHECK(e.energy[Event::dram_byte] == Approx(80 * kMilli));
    CHECK(e.energy.static_joules == Approx(180 * kMilli));
    CHECK(e.energy_per_inference_j == Approx(264 * kMilli / 4));
    CHECK(e.power_w == Approx(264 / 18.0));
    REQUIRE(e.subgraphs.size() == 2);
    const SubgraphEstimate& a = e.subgraphs[0];
    CHECK(a.latency_s == Approx(10 * kMilli));
    CHECK(a.lane_s[static_cast<std::size_t>(Lane::compute)] == Approx(8 * kMilli));
    CHECK(a.dram_bytes == 2e9);
    CHECK(a.energy.total() == Approx((4 + 20 + 100) * kMilli));
    CHECK(e.memory.workspace_bytes == 300);
    CHECK(e.memory.peak_bytes == 1000 + 500 + 50 + 300);
    CHECK(e.latency_interval.low == e.latency_s); // nothing says how far it may be off
}

TEST_CASE("estimate: the peak is that of the layer that draws most, within the limit",
          "[formulas][estimate]") {
    // A: 124 mJ in 10 ms; B: 120 mJ in 6 ms.
    TwoLayers layers;
    CHECK(layers.run().peak_power_w == Approx(20));
    layers.machine.power_limit_w = 30;
    CHECK(layers.run().peak_power_w == Approx(20));
    layers.machine.power_limit_w = 18;
    CHECK(layers.run().peak_power_w == Approx(18));
}

TEST_CASE("estimate: where overhead exceeds the work it is the bound", "[formulas][estimate]") {
    TwoLayers layers;
    layers.a.add(Resource::seconds, Lane::overhead, 2e-3); // 3 ms in all, work 4 ms
    CHECK(layers.run().overhead_bound == 0);
    layers.a.add(Resource::seconds, Lane::overhead, 1.5e-3);
    CHECK(layers.run().overhead_bound == 1);
}

TEST_CASE("estimate: two devices take twice the power, and each its own workspace", "[formulas][estimate]") {
    TwoLayers layers;
    layers.machine.devices = 2;
    const Estimate e = layers.run();
    CHECK(e.memory.workspace_bytes == 300);
    CHECK(e.memory.peak_bytes == 1850); // of one chip
    CHECK(e.power_w == Approx(2 * 264 / 18.0));
    CHECK(e.latency_s == Approx(18 * kMilli));
}

TEST_CASE("estimate: what is needed is compared with what the device has", "[formulas][estimate]") {
    TwoLayers layers;
    layers.machine.memory_capacity_bytes = 1850;
    CHECK(layers.run().status == Status::ok);
    layers.machine.memory_capacity_bytes = 1849;
    CHECK(layers.run().status == Status::does_not_fit);
}

TEST_CASE("estimate: without a captured graph the longer of host and device decides",
          "[formulas][estimate]") {
    // Two launches of A, one of B; the device takes 18 ms.
    TwoLayers layers;
    for (SubgraphWork& work : layers.network.work.subgraphs)
        work.kind = OpKind::matmul;
    const auto of_launch = [&](double seconds, bool captured) {
        layers.machine.parameters.facts[static_cast<std::size_t>(Parameter::uncaptured_launch)].value =
            seconds;
        auto stack = std::make_shared<Runtime>(*layers.machine.runtime);
        stack->graph_capture = captured;
        layers.machine.runtime = stack;
        return layers.run();
    };
    const Estimate device = of_launch(5 * kMilli, false), host = of_launch(10 * kMilli, false);
    CHECK(device.latency_s == Approx(18 * kMilli));
    CHECK(host.latency_s == Approx(30 * kMilli));
    CHECK(host.network_s == Approx(14 * kMilli));
    CHECK(host.throughput_per_s == Approx(4 / 30e-3));
    CHECK(host.energy.total() - device.energy.total() ==
          Approx(host.energy.static_joules - device.energy.static_joules));
    CHECK(of_launch(10 * kMilli, true).latency_s == Approx(18 * kMilli));
}

TEST_CASE("estimate: utilisation is that of the clock that the limit allows", "[formulas][estimate]") {
    // Only A's arithmetic: 4 ms and 2 mJ, times two; with 60 pJ per product 120 mJ in 8 ms, 15 W; a limit of
    // 17.5 W leaves 7.5 W: half the clock.
    TwoLayers layers;
    layers.a.demand_count = 1;
    layers.b.demand_count = 0;
    layers.b.ideal_cycles = 0;
    layers.a.events = layers.b.events = {};
    layers.a.events.mac(Precision::fp16) = 1e9;
    layers.counts->network = {};
    auto table = std::make_shared<EnergyTable>(*layers.machine.energy);
    table->mac[static_cast<std::size_t>(Precision::fp16)] = fact(60e-12);
    layers.machine.energy = table;
    layers.machine.power_limit_w = 17.5;
    const Estimate e = layers.run();
    CHECK(e.clock_ratio == Approx(0.5).epsilon(1e-4));
    CHECK(e.latency_s == Approx(16 * kMilli).epsilon(1e-4));
    CHECK(e.utilization == Approx(0.5).epsilon(1e-6)); // of the rate at the lower clock
    CHECK(e.power_w == Approx(17.5).epsilon(1e-4));
}

TEST_CASE("estimate: a layer that waits for weights fetched ahead is bound by memory",
          "[formulas][estimate]") {
    // A: 4 ms of arithmetic and 1 ms of weights, twice; B: 1 ms and 6 ms. All weights take 8 ms, the rest 9.
    TwoLayers layers;
    layers.a.demands[1].resource = layers.b.demands[1].resource = Resource::weight_bytes;
    auto stack = std::make_shared<Runtime>(*layers.machine.runtime);
    stack->weight_prefetch = WeightPrefetch::network;
    layers.machine.runtime = stack;
    const Estimate fed = layers.run();
    CHECK(fed.memory_bound == 0);
    CHECK(fed.compute_bound == 2);
    // 9 ms for B's: 11 ms in all, and the network waits. A is done before its own weights are missed.
    layers.b.demands[1].amount = 9e9;
    const Estimate waits = layers.run();
    CHECK(waits.latency_s == Approx(fed.latency_s + 2 * kMilli));
    CHECK(waits.memory_bound == 1);
    CHECK(waits.compute_bound == 1);
}

namespace {

/// Settles the clock of one of three mappings run twice, then another.
struct Settled {
    CountedNetwork network{2, 1};
    Machine machine = priced_machine(nullptr);
    BatchSchedule schedule;

    /// A: compute 3 ms, weights 2 ms, overhead 1 ms, twice. B: memory 5 ms, weights 4 ms, overhead 0.5 ms.
    Settled() {
        Mapping a, b;
        a.add(Resource::matrix_cycles, Lane::compute, 3e6);
        a.add(Resource::weight_bytes, Lane::memory, 2e9);
        a.add(Resource::seconds, Lane::overhead, 1e-3);
        b.add(Resource::dram_bytes, Lane::memory, 5e9);
        b.add(Resource::weight_bytes, Lane::memory, 4e9);
        b.add(Resource::seconds, Lane::overhead, 0.5e-3);
        schedule.mappings = {a, b};
        schedule.which = {0, 1};
        schedule.pieces = {1, 1};
        schedule.repeat = {2, 1};
        schedule.network.fixed.add(Resource::seconds, Lane::overhead, 0.25e-3);
    }
    OperatingPoint point() {
        ScheduleCosts costs;
        return settle_clock(schedule, total_events(schedule, network.work), machine, costs);
    }
    void prefetch() {
        auto stack = std::make_shared<Runtime>(*machine.runtime);
        stack->weight_prefetch = WeightPrefetch::network;
        machine.runtime = stack;
    }
};

} // namespace

TEST_CASE("estimate: layers in turn, weights over the whole network", "[formulas][power]") {
    Settled s;
    // 2 x (3 + 1) + (5 + 4) + 0.5 + 0.25
    CHECK(s.point().latency_s == Approx(17.75 * kMilli));
    CHECK(s.point().interval_s == s.point().latency_s);
    s.prefetch();
    // Work 2 x 3 + 5 = 11 against weights 2 x 2 + 4 = 8; then overhead 2 x 1 + 0.5.
    CHECK(s.point().latency_s == Approx((11 + 2.5 + 0.25) * kMilli));
    s.schedule.mappings[1].demands[1].amount = 9e9; // weights 13
    CHECK(s.point().latency_s == Approx((13 + 2.5 + 0.25) * kMilli));
}

TEST_CASE("estimate: a pipeline is as fast as its slowest stage", "[formulas][power]") {
    Settled s;
    s.schedule.network.pipelined = true;
    CHECK(s.point().interval_s == Approx(9.5 * kMilli)); // B
    s.schedule.repeat[0] = 3;                            // A: 3 x 4
    CHECK(s.point().interval_s == Approx(12 * kMilli));
    CHECK(s.point().latency_s == Approx((12 + 9.5 + 0.25) * kMilli));
    s.prefetch(); // weights 3 x 2 + 4 = 10 against 12
    CHECK(s.point().interval_s == Approx(12 * kMilli));
    s.schedule.mappings[1].demands[1].amount = 9e9; // 15
    CHECK(s.point().interval_s == Approx(15 * kMilli));
}

TEST_CASE("estimate: instances share the memory", "[formulas][power]") {
    Settled s;
    s.schedule.network.instances = 3;
    CHECK(s.point().interval_s == Approx(17.75 * kMilli)); // one stream
    s.machine.scenario = Scenario::throughput;
    s.schedule.network.shared_exponent = 2;
    // DRAM: 2 x 2 + 5 + 4 = 13 GB, 13 ms for each inference however many there are.
    CHECK(s.point().interval_s == Approx(std::hypot(17.75 / 3, 13) * kMilli));
    s.schedule.network.shared_exponent = std::numeric_limits<double>::infinity();
    CHECK(s.point().interval_s == Approx(13 * kMilli));
}

TEST_CASE("estimate: a pause stretches latency and interval alike", "[formulas][power]") {
    // 135 GB at 10 pJ: 1.35 J in no clock's power but in 1.35 s at 1 W beside static 10 W.
    Settled s;
    for (Mapping& m : s.schedule.mappings)
        m.events[Event::dram_byte] = 45e9;
    s.schedule.network.pipelined = true;
    s.machine.power_limit_w = 11;
    const OperatingPoint p = s.point();
    CHECK(p.limited);
    CHECK(p.interval_s == Approx(1350 * kMilli));
    // At a hundredth of the clock: A 2 x (300 + 1) = 602 ms is the slowest stage, the sum 602 + 9.5 + 0.25.
    CHECK(p.latency_s == Approx(1350 * 611.75 / 602 * kMilli));
}

TEST_CASE("estimate: the clock of least energy", "[formulas][power]") {
    // 0.1 J per inference at full clock in 1 ms: 100 W. With V ~ f energy ~ f^2, so E = 0.1 r^2 + P t / r
    // with P t = 30 mJ static and 20 mJ host: least at r^3 = 0.05 / 0.2.
    Settled s;
    Mapping& a = s.schedule.mappings[0];
    a = {};
    a.add(Resource::matrix_cycles, Lane::compute, 0.5e6);
    a.events.mac(Precision::fp16) = 0.05 / 2e-12;
    s.schedule.mappings[1] = {};
    s.schedule.network = {};
    auto table = std::make_shared<EnergyTable>(*s.machine.energy);
    table->clock_exponent = fact(3);
    table->host_share = fact(0.2);
    s.machine.energy = table;
    auto device = std::make_shared<Device>(*s.machine.device);
    device->tdp = fact(100);
    s.machine.device = device;
    s.machine.static_power_w = 30;
    s.machine.efficient_clock = true;
    CHECK(s.point().clock_ratio == Approx(std::cbrt(0.25)).epsilon(1e-3));
    CHECK(s.point().latency_s == Approx(kMilli / std::cbrt(0.25)).epsilon(1e-3));
    // Static power that outweighs all else asks for the full clock, none at all for the lowest.
    s.machine.static_power_w = 1000;
    CHECK(s.point().clock_ratio == Approx(1).epsilon(1e-3));
    s.machine.static_power_w = 0;
    table = std::make_shared<EnergyTable>(*table);
    table->host_share = {};
    s.machine.energy = table;
    CHECK(s.point().clock_ratio == Approx(0.2).epsilon(1e-3));
}
