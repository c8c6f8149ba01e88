// Time and energy of stated counts, worked by hand.

#include "counted_network.hpp"
#include "estimate/algebra.hpp"
#include "estimate/price.hpp"
#include "estimate/resource_times.hpp"
#include "estimate/schedule.hpp"
#include "estimate/wall_power.hpp"
#include "map/expected_counts.hpp"
#include "map/overlap.hpp"

#include <cmath>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("price: three times that overlap by an exponent", "[formulas][estimate]") {
    CHECK(combine(3, 4, 12, 1) == 19);
    CHECK(combine(3, 4, 12, 2) == Approx(13));
    CHECK(combine(3, 4, 12, 3) == Approx(std::cbrt(27 + 64 + 1728)));
    CHECK(combine(3, 4, 12, 4) == Approx(std::sqrt(std::sqrt(81 + 256 + 20736))));
    CHECK(combine(3, 4, 12, std::numeric_limits<double>::infinity()) == 12);
    CHECK(combine(0, 0, 0, 2) == 0);
    // A rate of nothing makes a lane infinite: so is the time, whatever the exponent.
    constexpr double kForever = std::numeric_limits<double>::infinity();
    for (const double p : {1.0, 2.0, 3.0, 4.0, kForever}) {
        CHECK(combine(kForever, 4, 0, p) == kForever);
        CHECK(combine(3, kForever, kForever, p) == kForever);
    }
    CHECK(combine(4, 3, 0, 2) == Approx(5));
    CHECK(combine(3, 0, 4, 2) == Approx(5));
}

namespace {

/// In microseconds at full clock: compute 6 + 1, on chip 3, DRAM 5 and weights 2, overhead 1 and 0.5.
Mapping seven_demands() {
    Mapping m;
    m.add(Resource::matrix_cycles, Lane::compute, 3000, 0.5);
    m.add(Resource::vector_cycles, Lane::compute, 1000);
    m.add(Resource::l2_bytes, Lane::on_chip, 3e6);
    m.add(Resource::dram_bytes, Lane::memory, 4e6, 0.8);
    m.add(Resource::weight_bytes, Lane::memory, 2e6);
    m.add(Resource::seconds, Lane::overhead, 1e-6);
    m.add(Resource::overhead_cycles, Lane::overhead, 500);
    return m;
}

} // namespace

TEST_CASE("price: demands add in a lane, lanes overlap, cycles follow the clock", "[formulas][estimate]") {
    Machine machine = priced_machine(nullptr);
    machine.combine_exponent = 2;
    const auto lane = [](const LaneTimes& t, Lane l) { return t.lanes[static_cast<std::size_t>(l)] * 1e6; };
    const LaneTimes full = price_time(seven_demands(), machine, 1, false);
    CHECK(lane(full, Lane::compute) == Approx(7));
    CHECK(lane(full, Lane::on_chip) == Approx(3));
    CHECK(lane(full, Lane::memory) == Approx(7));
    CHECK(lane(full, Lane::overhead) == Approx(1.5));
    CHECK(full.total * 1e6 == Approx(std::sqrt(49 + 9 + 49) + 1.5));
    CHECK(full.dram_bytes == 6e6);
    CHECK(full.binding == Resource::matrix_cycles);
    CHECK(full.weight_stream == 0);
    // Half the clock: bytes of DRAM and seconds stay. Weights prefetched over the network leave their lane.
    const LaneTimes half = price_time(seven_demands(), machine, 0.5, true);
    CHECK(lane(half, Lane::compute) == Approx(14));
    CHECK(lane(half, Lane::on_chip) == Approx(6));
    CHECK(lane(half, Lane::memory) == Approx(5));
    CHECK(lane(half, Lane::overhead) == Approx(2));
    CHECK(half.weight_stream * 1e6 == Approx(2));
    CHECK(half.total * 1e6 == Approx(std::sqrt(196 + 36 + 25) + 2));
    CHECK(half.dram_bytes == 6e6);
    // What no rate serves never ends.
    set_rate(machine, Resource::dram_bytes, 0);
    machine.combine_exponent = std::numeric_limits<double>::infinity();
    CHECK(std::isinf(price_time(seven_demands(), machine, 1, false).total));
}

TEST_CASE("price: a demand's time with its rate", "[formulas][estimate]") {
    const Machine machine = priced_machine(nullptr);
    const auto times = resource_times(seven_demands(), machine, 0.5, 3);
    REQUIRE(times.size() == 7);
    CHECK(times[0].amount == 9000);
    CHECK(times[0].rate == 0.5e9);
    CHECK(times[0].seconds == Approx(36e-6)); // three times 6 us at half the clock
    CHECK(times[3].amount == 12e6);
    CHECK(times[3].rate == 1e12);
    CHECK(times[3].seconds == Approx(15e-6));
}

TEST_CASE("price: voltage scales the core's part of an event", "[formulas][energy]") {
    EnergyTable table;
    const auto set = [&](Event e, double joules) { table.event[static_cast<std::size_t>(e)] = fact(joules); };
    set(Event::l2_byte, 10);
    set(Event::dram_byte, 10);
    set(Event::host_link_byte, 10);
    set(Event::host_busy_second, 10);
    table.dram_device = fact(4);
    CHECK(event_price(table, Event::l2_byte, 0.5) == 5);
    CHECK(event_price(table, Event::dram_byte, 0.5) == 4 + 3); // the memory devices keep their voltage
    CHECK(event_price(table, Event::host_link_byte, 0.5) == 10);
    CHECK(event_price(table, Event::host_busy_second, 0.5) == 10);
    table.dram_device = fact(40); // more than the whole path: nothing is left for the core
    CHECK(event_price(table, Event::dram_byte, 0.5) == 10);
}

TEST_CASE("price: counts times joules at the voltage of the clock", "[formulas][energy]") {
    Machine machine = priced_machine(nullptr);
    auto table = std::make_shared<EnergyTable>(*machine.energy);
    table->clock_exponent = fact(3);
    table->mac[static_cast<std::size_t>(Precision::int8)] = fact(1e-12);
    table->event[static_cast<std::size_t>(Event::l2_byte)] = fact(3e-12);
    machine.energy = table;
    EventCounts events;
    events.mac(Precision::fp16) = 100;
    events.mac(Precision::int8) = 50;
    events[Event::l2_byte] = 7;
    const EnergyBreakdown full = price_energy(events, machine, 1);
    CHECK(full[Event::mac] == Approx(100 * 2e-12 + 50 * 1e-12));
    CHECK(full[Event::l2_byte] == Approx(21e-12));
    CHECK(full.total() == Approx(271e-12));
    // Power ~ f^3, so energy ~ f^2: a quarter at half the clock.
    CHECK(price_energy(events, machine, 0.5).total() == Approx(271e-12 / 4));
    table->lowest_voltage = fact(0.6);
    CHECK(price_energy(events, machine, 0.5).total() == Approx(271e-12 * 0.6));
}

TEST_CASE("price: counted events without a price are named", "[formulas][energy]") {
    Machine machine = priced_machine(nullptr);
    auto table = std::make_shared<EnergyTable>(*machine.energy);
    table->static_power = fact(10);
    machine.energy = table;
    EventCounts events;
    events.mac(Precision::fp16) = 1;
    events[Event::dram_byte] = 1;
    CHECK(unpriced_events(events, machine).empty());
    events.mac(Precision::int8) = 1;
    events[Event::l2_byte] = 1;
    const auto findings = unpriced_events(events, machine);
    REQUIRE(findings.size() == 2);
    CHECK_THAT(findings[0].message, Catch::Contains("mac_int8"));
    CHECK_THAT(findings[1].message, Catch::Contains(std::string(name_of(Event::l2_byte))));
}

TEST_CASE("price: collectives start up one by one and send at a share of the link", "[formulas][estimate]") {
    Machine machine = priced_machine(nullptr);
    set(machine, Parameter::link_efficiency, 0.36);
    set(machine, Parameter::link_latency, 14e-6);
    SubgraphWork work;
    work.link_bytes = 3e6;
    Mapping none;
    add_collectives(work, machine, none);
    check_demands(none, {});
    work.collectives = 2;
    Mapping out;
    add_collectives(work, machine, out);
    add_collectives(work, machine, out);
    check_demands(out, {{Resource::link_bytes, Lane::overhead, 3e6, 0.36},
                        {Resource::seconds, Lane::overhead, 28e-6},
                        {Resource::link_bytes, Lane::overhead, 3e6, 0.36},
                        {Resource::seconds, Lane::overhead, 28e-6}});
    CHECK(out.events[Event::host_link_byte] == 6e6);
    // Where chips pass a sum on, each beyond two adds to the start.
    machine.devices = 4;
    set(machine, Parameter::link_latency_chip, 3e-6);
    Mapping around;
    add_collectives(work, machine, around);
    check_demands(around, {{Resource::link_bytes, Lane::overhead, 3e6, 0.36},
                           {Resource::seconds, Lane::overhead, 2 * (14e-6 + 2 * 3e-6)}});
}

TEST_CASE("price: all devices together", "[formulas][estimate]") {
    Estimate e;
    e.energy[Event::mac] = 5;
    e.energy.static_joules = 3;
    e.events[Event::dram_byte] = 11;
    e.energy_per_inference_j = 8;
    e.power_w = 20;
    e.peak_power_w = 30;
    e.subgraphs.resize(1);
    e.subgraphs[0].energy[Event::mac] = 2;
    e.subgraphs[0].energy.static_joules = 1;
    CHECK(on_devices(e, 1).power_w == 20);
    e = on_devices(std::move(e), 4);
    CHECK(e.energy[Event::mac] == 20);
    CHECK(e.energy.static_joules == 12);
    CHECK(e.events[Event::dram_byte] == 44);
    CHECK(e.energy_per_inference_j == 32);
    CHECK(e.power_w == 80);
    CHECK(e.peak_power_w == 120);
    CHECK(e.subgraphs[0].energy.total() == 12);
}

TEST_CASE("price: eight cards at the wall", "[formulas][energy]") {
    // 8 x 200 W, a host of 0.2 x 300 W for each, a supply of 93 %: (1600 + 480) / 0.93.
    Machine machine = priced_machine(nullptr);
    auto device = std::make_shared<Device>(*machine.device);
    device->tdp = fact(300);
    machine.device = device;
    auto table = std::make_shared<EnergyTable>();
    table->host_share = fact(0.2);
    table->supply_efficiency = fact(0.93);
    machine.energy = table;
    const WallPower wall = wall_power(machine, 200, 8);
    CHECK(wall.accelerators_w == 1600);
    CHECK(wall.host_w == Approx(480));
    CHECK(wall.supply_loss_w == Approx(2080 / 0.93 - 2080));
    CHECK(wall.total() == Approx(2236.6).epsilon(1e-4));
}
