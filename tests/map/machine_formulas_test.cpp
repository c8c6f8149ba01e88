// Rates of a machine in a power mode, the plan of its memory and changes to it, worked by hand.

#include "accelerator_support.hpp"
#include "archsim/map/machine_changes.hpp"
#include "hardware/energy_table.hpp"
#include "map/network_parts.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

Fact published(double value) {
    Fact f = fact(value);
    f.source = std::make_shared<const Source>(Source{SourceKind::datasheet, "test"});
    return f;
}

/// Eight cores of 100 int8 operations per clock and four of 10 fp32; caches per core, of the chip and with a
/// bandwidth of their own; DRAM of 10 GB/s, of which 0.8 are reached.
Rig eight_cores(Family family) {
    Rig rig(family, 8, 100);
    Engine vector;
    vector.kind = EngineClass::vector;
    vector.count = 4;
    vector.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(10);
    rig.device->engines.push_back(vector);
    rig.device->memory = {level("L1", "core", fact(1000), {}, fact(4)),
                          level("L2", "chip", fact(1e5), {}, fact(6)),
                          level("L3", "chip", fact(1e6), fact(5e9), fact(1))};
    rig.device->dram->bandwidth = fact(10e9);
    rig.device->dram->achievable_fraction = fact(0.8);
    rig.device->dram->capacity = fact(1e9);
    PowerMode mode;
    mode.name = "half";
    mode.active_units = fact(4);
    mode.clock = fact(5e8);
    mode.limit = published(7);
    mode.active_idle = fact(2);
    rig.device->power_modes.push_back(mode);
    rig.set(Parameter::dram_efficiency, 0.5).set(Parameter::fabric_efficiency, 0.25);
    rig.set(Parameter::l2_bytes_per_clock, 3).set(Parameter::llc_bytes_per_clock, 2);
    rig.options.devices = 2;
    return rig;
}

Machine in_mode(const Rig& rig) {
    return make_machine(rig.device, "half", rig.runtime, rig.options);
}

} // namespace

TEST_CASE("machine: a hybrid processor counts its performance cores", "[formulas][map]") {
    Rig rig = eight_cores(Family("cpu"));
    Engine performance = rig.device->engines.back(), efficiency = performance;
    performance.count = 6;
    efficiency.count = 8;
    rig.device->engines = {performance, efficiency};
    rig.device->memory = {level("L1", "core", fact(1000), {}, fact(4))};
    const Machine m = make_machine(rig.device, "", rig.runtime, rig.options);
    CHECK(m.units == 6);
}

TEST_CASE("machine: a GPU's slow host takes longer to start kernels and inferences", "[formulas][map][gpu]") {
    Rig rig = eight_cores(Family("gpu"));
    rig.set(Parameter::kernel_overhead, 6e-6).set(Parameter::inference_overhead, 3e-4);
    rig.set(Parameter::host_time, 1e-4).set(Parameter::kernel_floor_cycles, 5000);
    const Machine usual = rig.machine();
    own(*rig.device, "host_speed") = fact(0.5);
    const Machine slow = rig.machine();
    for (const Parameter p :
         {Parameter::kernel_overhead, Parameter::inference_overhead, Parameter::host_time})
        CHECK(slow.param(p, 0) == Approx(2 * usual.param(p, 0)));
    CHECK(slow.param(Parameter::kernel_floor_cycles, 0) == 5000); // the multiprocessor's, not the host's
    CHECK(slow.rate(Resource::dram_bytes) == usual.rate(Resource::dram_bytes));
}

TEST_CASE("machine: units, engines and caches of a mode", "[formulas][map]") {
    const Machine m = in_mode(eight_cores(Family("npu")));
    CHECK(m.active_fraction == 0.5);
    CHECK(m.units == 4);
    CHECK(m.matrix_ops(Precision::int8) == 8 * 100 * 0.5);
    CHECK(m.vector_ops(Precision::fp32) == 4 * 10 * 0.5);
    CHECK(m.peak_ops(Precision::int8) == 400 * 5e8);
    CHECK(m.peak_ops(Precision::fp32) == 20 * 5e8); // the vector engine, where the matrix engine lacks it
    CHECK(m.rate(Resource::l1_bytes) == 4 * 4 * 5e8);
    CHECK(m.rate(Resource::l2_bytes) == 6 * 5e8);
    CHECK(m.rate(Resource::llc_bytes) == 5e9);
    CHECK(m.power_limit_w == 7);
    CHECK(m.static_power_w == 2);
    CHECK(m.memory_capacity_bytes == 1e9); // of each of the two devices
    const Rig full = eight_cores(Family("npu"));
    CHECK(full.machine().rate(Resource::l1_bytes) == 4 * 8 * 1e9);
    Rig more = eight_cores(Family("npu")); // a mode cannot switch on what is not there
    more.device->power_modes[0].active_units = fact(16);
    CHECK(in_mode(more).active_fraction == 1);
}

TEST_CASE("machine: bandwidth of the memory in a mode", "[formulas][map]") {
    Rig rig = eight_cores(Family("gpu"));
    CHECK(in_mode(rig).rate(Resource::dram_bytes) == Approx(10e9 * 0.8 * 0.5));
    rig.device->power_modes[0].memory_bandwidth = fact(6e9);
    CHECK(in_mode(rig).rate(Resource::dram_bytes) == Approx(6e9 * 0.8 * 0.5));
    rig.device->power_modes[0].measured_bandwidth = fact(4.5e9);
    CHECK(in_mode(rig).rate(Resource::dram_bytes) == Approx(4.5e9 * 0.5));
    // The fabric's 16 bytes per clock, of which a quarter is reached, whatever share of the DRAM code
    // reaches.
    own(*rig.device, "fabric_bytes_per_clock") = fact(16);
    CHECK(in_mode(rig).rate(Resource::dram_bytes) == Approx(16 * 5e8 * 0.25));
    CHECK(in_mode(rig).rate(Resource::weight_bytes) == Approx(16 * 5e8 * 0.25));
    own(*rig.device, "fabric_bytes_per_clock") = fact(20); // 2.5 GB/s, more than half of 4.5
    CHECK(in_mode(rig).rate(Resource::dram_bytes) == Approx(4.5e9 * 0.5));
}

TEST_CASE("machine: cache bytes that code reaches on the cores that run it", "[formulas][map]") {
    Rig rig = eight_cores(Family("cpu"));
    CHECK(in_mode(rig).rate(Resource::l2_bytes) == 3 * (4 * 0.5) * 5e8); // the vector engine's four cores
    CHECK(in_mode(rig).rate(Resource::llc_bytes) == 2 * (4 * 0.5) * 5e8);
    rig.set(Parameter::llc_bandwidth, 9e9);
    CHECK(in_mode(rig).rate(Resource::llc_bytes) == 9e9);
}

TEST_CASE("machine: changed parts", "[formulas][map]") {
    Rig rig = eight_cores(Family("npu"));
    auto table = std::make_shared<EnergyTable>();
    table->mac[static_cast<std::size_t>(Precision::int8)] = fact(2);
    for (Fact& price : table->event)
        price = fact(3);
    table->dram_device = fact(4);
    table->static_power = fact(5);
    rig.options.energy = table;
    rig.set(Parameter::kernel_overhead, 6).set(Parameter::fallback_switch, 7);
    Machine m = in_mode(rig);
    const Machine before = m;
    MachineChanges changes;
    for (std::size_t l = 0; l < kLeverCount; ++l)
        changes.factors[l] = 2 + static_cast<double>(l);
    changes.parameters = {{Parameter::dram_efficiency, 1.5}};
    apply(changes, m);
    const auto times = [&](Resource r) { return m.rate(r) / before.rate(r); };
    CHECK(times(Resource::matrix_cycles) == Approx(changes[Lever::peak]));
    CHECK(times(Resource::dram_bytes) == Approx(changes[Lever::bandwidth]));
    CHECK(times(Resource::l2_bytes) == Approx(changes[Lever::on_chip]));
    CHECK(m.param(Parameter::kernel_overhead, 0) == Approx(6 * changes[Lever::fixed_cost]));
    CHECK(m.param(Parameter::fallback_switch, 0) == Approx(7 * changes[Lever::host_time]));
    CHECK(m.param(Parameter::dram_efficiency, 0) == Approx(0.5 * 1.5));
    CHECK(m.power_limit_w == Approx(7 * changes[Lever::power_limit]));
    CHECK(m.memory_capacity_bytes == Approx(1e9 * changes[Lever::capacity]));
    CHECK(m.static_power_w == Approx(2 * changes[Lever::static_power]));
    CHECK(m.energy->mac[static_cast<std::size_t>(Precision::int8)].value ==
          Approx(2 * changes[Lever::operation_energy]));
    for (const auto& [event, lever] : {std::pair{Event::instruction, Lever::control_energy},
                                       {Event::l2_byte, Lever::on_chip_energy},
                                       {Event::dram_byte, Lever::memory_energy},
                                       {Event::vector_op, Lever::operation_energy}})
        CHECK((*m.energy)[event].value == Approx(3 * changes[lever]));
    CHECK((*m.energy)[Event::host_link_byte].value == 3); // the host's own supply
    CHECK(m.energy->dram_device.value == Approx(4 * changes[Lever::memory_energy]));
    CHECK(m.energy->static_power.value == Approx(5 * changes[Lever::static_power]));
}

namespace {

MemoryPlan plan(const std::vector<Buffer>& buffers, const std::vector<double>& sizes, std::size_t steps) {
    return plan_memory(buffers, sizes, steps);
}

} // namespace

TEST_CASE("memory plan: what is alive, what crosses, where it lies", "[formulas][memory]") {
    // A 0-1, B 1-2, C 2-3, D 0-3, a cache. A and C share an address; B lies behind them, D behind B.
    const MemoryPlan p =
        plan({{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {3, 0, 3}, {4, 0, 3, true}}, {100, 50, 110, 30, 500}, 4);
    CHECK(p.timeline == std::vector<double>{130, 180, 190, 140});
    CHECK(p.crossing == std::vector<double>{0, 130, 80, 140});
    CHECK(p.peak_live_bytes == 190);
    CHECK(p.peak_step == 2);
    CHECK(p.peak_tensors == std::vector<TensorId>{2, 1, 3});
    CHECK(p.peak_tensor_bytes == std::vector<double>{110, 50, 30});
    CHECK(p.arena_bytes == 110 + 50 + 30);
    CHECK(p.kv_cache_bytes == 500);
}

TEST_CASE("memory plan: the smallest gap that holds a buffer", "[formulas][memory]") {
    // Long-lived 100, 80 and 66 leave gaps of 90 and 70 when what lay between them ends. 65 goes into the gap
    // of 70, so that 62 and 27 fit into that of 90; 65 in the gap of 90 would leave no room for 27.
    const MemoryPlan p =
        plan({{0, 0, 9}, {1, 0, 1}, {2, 0, 9}, {3, 0, 1}, {4, 0, 9}, {5, 5, 6}, {6, 5, 6}, {7, 5, 6}},
             {100, 90, 80, 70, 66, 65, 62, 27}, 10);
    CHECK(p.arena_bytes == 100 + 90 + 80 + 70 + 66);
    CHECK(p.peak_live_bytes == 406);
}
