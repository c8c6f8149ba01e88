// The energy table against the published figures it was made from, and against the mappers whose counts it
// prices.

#include "core/json_document.hpp"
#include "estimate/price.hpp"
#include "estimate/wall_power.hpp"
#include "family/cpu_view.hpp"
#include "family/gpu_view.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/schema_check.hpp"
#include "hardware/temporary_database.hpp"
#include "hardware/uncertainty.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <nlohmann/json.hpp>

using namespace archsim;

namespace {

constexpr double kPico = 1e-12;

const EnergyDatabase& energy() {
    static const EnergyDatabase database(std::string(ARCHSIM_SOURCE_DIR) + "/hardware_db/energy.json");
    return database;
}

std::shared_ptr<const Device> device(const std::string& name) {
    return laws::session().hardware().device(name).device;
}

double multiple(const EnergyTable& table, PriceGroup group) {
    return table.multiple[static_cast<std::size_t>(group)].value_or(1);
}

/// Joules per operation at the clock the device sustains, before what measured power says of its family.
double operation(const std::string& name, Precision p) {
    const auto d = device(name);
    const EnergyTable table = energy().resolve(*d);
    return table.operation[static_cast<std::size_t>(p)] *
           table.voltage_factor(d->clock_sustained.value_or(table.nominal_clock.value)) /
           multiple(table, PriceGroup::chip);
}

double priced(const EnergyTable& table, const EventCounts& events) {
    double joules = 0;
    for (std::size_t p = 0; p < kPrecisionCount; ++p)
        joules += events.macs[p] * table.mac[p].value_or(0);
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (events.counts[e] > 0)
            joules += events.counts[e] * table.event[e].value_or(0);
    return joules;
}

} // namespace

TEST_CASE("published all-in energies per operation come back from their events", "[energy]") {
    CHECK(operation("A100", Precision::bf16) == Approx(1.2 * kPico).epsilon(0.01));
    CHECK(operation("H100", Precision::bf16) == Approx(0.99 * kPico).epsilon(0.01));
    CHECK(operation("H100", Precision::fp8) == Approx(0.554 * kPico).epsilon(0.01));
    CHECK(operation("TPU-v4", Precision::bf16) == Approx(0.35 * kPico).epsilon(0.01));
    CHECK(operation("DPU-ZCU102", Precision::int8) == Approx(6.2 * kPico).epsilon(0.01));
    CHECK(operation("Coral-Edge-TPU", Precision::int8) == Approx(0.70 * kPico).epsilon(0.01));
    CHECK(operation("Hailo-8", Precision::int8) == Approx(0.15 * kPico).epsilon(0.01));
    CHECK(operation("Cloud-AI-100-Pro", Precision::int8) == Approx(0.25 * kPico).epsilon(0.01));
    CHECK(operation("Core-i7-12700K", Precision::fp32) == Approx(77 * kPico).epsilon(0.01));
    CHECK(operation("KPU-T256", Precision::int8) == Approx(0.15 * kPico).epsilon(0.01));
    // Constant-clock fits hold at the nominal clock.
    for (const auto& [name, picojoules] : {std::pair{"A100", 5.11}, {"H200", 5.81}, {"A40", 6.91}}) {
        const EnergyTable table = energy().resolve(*device(name));
        INFO(name);
        CHECK(table.operation[static_cast<std::size_t>(Precision::fp32)] / kPico ==
              Approx(picojoules * multiple(table, PriceGroup::chip)).epsilon(0.02));
    }
}

TEST_CASE("figures of a node hold at the clock of the card they come from", "[energy]") {
    // 5 nm: 5.81 pJ per fp32 operation of H200 at 1.98 GHz; L40 boosts to 2.49 GHz. 8 nm: 1.6 pJ per bf16
    // operation at the 1.74 GHz of A40, 0.84 at the 918 MHz of Orin NX. Voltage squared follows the clock. A
    // CPU's figure holds at turbo whatever clock all its cores reach.
    const auto table = [](const char* name) { return energy().resolve(*device(name)); };
    const auto picojoules = [](const EnergyTable& t, Precision p) {
        return t.operation[static_cast<std::size_t>(p)] / kPico / multiple(t, PriceGroup::chip);
    };
    CHECK(picojoules(table("L40"), Precision::fp32) == Approx(5.81 * 2490 / 1980).epsilon(0.02));
    const EnergyTable orin = table("Jetson-Orin-NX");
    CHECK(picojoules(orin, Precision::fp16) * orin.voltage_factor(918e6) ==
          Approx(1.6 * 918 / 1740).epsilon(0.02));
    for (const char* name : {"Xeon-8490H", "Xeon-8480+"})
        CHECK(picojoules(table(name), Precision::bf16) == Approx(3.2).epsilon(0.02)); // 10 nm
}

TEST_CASE("a byte streamed from DRAM costs its published all-in energy once", "[energy]") {
    for (const auto& [name, picojoules] : {std::pair{"A100-40GB", 117.4},
                                           {"A100", 117.4},
                                           {"H200", 122.4},
                                           {"H100", 122.4},
                                           {"B200", 122.4},
                                           {"A40", 198.0},
                                           {"Jetson-Orin-Nano", 75.0}}) {
        INFO(name);
        const EnergyTable table = energy().resolve(*device(name));
        EventCounts events;
        events[Event::dram_byte] = events[Event::l2_byte] = 1;
        events[Event::coherence] = 1.0 / 128;
        gpu::count_vector(1.0 / 8, 0, 1, events);
        const double traffic = table[Event::dram_byte].value;
        const double beside = priced(table, events) - traffic;
        CHECK(traffic / multiple(table, PriceGroup::dram) + beside / multiple(table, PriceGroup::chip) ==
              Approx(picojoules * kPico).epsilon(0.02));
        CHECK(table.dram_device.value < table[Event::dram_byte].value);
    }
}

TEST_CASE("what the GPU mapper counts for a large product prices to the reference kernel", "[energy]") {
    for (const char* name : {"A100", "H100", "T4"}) {
        INFO(name);
        const EnergyTable table = energy().resolve(*device(name));
        gpu::MultiplyEngine engine;
        engine.matrix = true;
        TileChoice tile;
        tile.tile_m = tile.tile_n = 128;
        tile.tile_k = 32;
        const double macs = 1e9;
        EventCounts events;
        gpu::count_product(macs, Precision::fp16, engine, tile, 2, events);
        events[Event::l2_byte] += macs * 2 * (1.0 / 128 + 1.0 / 128);
        CHECK(priced(table, events) / (2 * macs) ==
              Approx(table.operation[static_cast<std::size_t>(Precision::fp16)]).epsilon(0.02));
    }
}

TEST_CASE("what the CPU mapper counts for a large product prices to the reference kernel", "[energy]") {
    const EnergyTable table = energy().resolve(*device("Core-i7-12700K"));
    cpu::MultiplyUnit unit;
    unit.n_step = 8;
    unit.k_step = 1;
    unit.macs_per_instruction = 8;
    const double macs = 1e9;
    EventCounts events;
    cpu::count_product(macs, Precision::fp32, unit, events);
    CHECK(priced(table, events) / (2 * macs) == Approx(77 * kPico).epsilon(0.01));
}

TEST_CASE("INT8 costs less than FP16, and FP16 less than FP32, per operation on every device",
          "[energy][laws]") {
    std::vector<Finding> findings;
    std::size_t pairs = 0;
    for (const auto& d : laws::session().hardware().all_devices(findings)) {
        const EnergyTable table = energy().resolve(*d);
        double narrower = 0;
        for (Precision p : {Precision::int8, Precision::fp16, Precision::fp32}) {
            const double joules = table.operation[static_cast<std::size_t>(p)];
            if (std::isnan(joules))
                continue;
            INFO(d->id << " in " << name_of(p));
            CHECK(joules > narrower);
            pairs += narrower > 0;
            narrower = joules;
        }
    }
    CHECK(pairs > 50);
}

TEST_CASE("every device has the prices its family needs", "[energy]") {
    std::vector<Finding> findings;
    for (const auto& d : laws::session().hardware().all_devices(findings)) {
        INFO(d->id);
        const EnergyTable table = energy().resolve(*d);
        for (Precision p : kPrecisions) {
            CHECK(table.mac[static_cast<std::size_t>(p)].value > 0);
            CHECK(table.mac[static_cast<std::size_t>(p)].source);
        }
        CHECK(table[Event::vector_op].value > 0);
        CHECK(table.clock_exponent.known());
        if (d->dram)
            CHECK(table[Event::dram_byte].value > table.dram_device.value * 0.99);
        if (d->tdp.known() || d->active_idle.known())
            CHECK(table.static_power.value > 0);
    }
}

TEST_CASE("a mode at a lower clock costs less per event, down to the lowest voltage", "[energy]") {
    const EnergyTable table = energy().resolve(*device("Jetson-AGX-Orin"));
    CHECK(table.voltage_factor(1300.5e6) == Approx(1));
    CHECK(table.voltage_factor(816e6) == Approx(816 / 1300.5));
    CHECK(table.voltage_factor(1e6) == table.lowest_voltage.value);
    // Programmable logic and a chip that was measured at two clocks have one voltage.
    CHECK(energy().resolve(*device("Coral-Edge-TPU")).voltage_factor(250e6) == 1);
    CHECK(energy().resolve(*device("DPU-ZCU102")).voltage_factor(100e6) == 1);

    Machine slow, fast;
    slow.energy = fast.energy = std::make_shared<const EnergyTable>(table);
    slow.rates[static_cast<std::size_t>(Resource::overhead_cycles)].value = 408e6;
    fast.rates[static_cast<std::size_t>(Resource::overhead_cycles)].value = 1300.5e6;
    EventCounts events;
    events.mac(Precision::int8) = events[Event::l2_byte] = events[Event::dram_byte] = 1e6;
    const EnergyBreakdown low = price_energy(events, slow, 1), high = price_energy(events, fast, 1);
    CHECK(low[Event::mac] < high[Event::mac]);
    CHECK(low[Event::l2_byte] < high[Event::l2_byte]);
    // The DRAM keeps its own supply: only the path to it gets cheaper.
    CHECK(low[Event::dram_byte] < high[Event::dram_byte]);
    CHECK(low[Event::dram_byte] > table.dram_device.value * 1e6);
    CHECK(price_energy(events, fast, 0.5)[Event::mac] < high[Event::mac]);
}

TEST_CASE("an event without a price is a finding, not a silent zero", "[energy]") {
    Machine machine;
    machine.device = device("TPU-v4");
    machine.energy = std::make_shared<const EnergyTable>(energy().resolve(*machine.device));
    machine.static_power_w = machine.energy->static_power.value;
    EventCounts events;
    events.mac(Precision::bf16) = events[Event::dram_byte] = 1;
    CHECK(unpriced_events(events, machine).empty());
    events[Event::domain_token] = 1;
    const auto findings = unpriced_events(events, machine);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.find("domain_token") != std::string::npos);
    CHECK_FALSE(findings[0].hint.empty());
    machine.static_power_w = 0; // nobody states it
    REQUIRE(unpriced_events(events, machine).size() == 2);
    CHECK(unpriced_events(events, machine)[0].message.find("static power") != std::string::npos);
}

TEST_CASE("wall power adds the host's share and the supply's loss", "[energy]") {
    Machine machine;
    machine.device = device("A100-PCIe-80GB"); // 300 W
    machine.energy = std::make_shared<const EnergyTable>(energy().resolve(*machine.device));
    const WallPower wall = wall_power(machine, 200, 8);
    CHECK(wall.accelerators_w == 1600);
    CHECK(wall.host_w == Approx(480));
    CHECK(wall.total() == Approx(2080 / 0.93));
    // A module holds its host; its adapter loses a tenth.
    machine.device = device("Jetson-AGX-Orin");
    machine.energy = std::make_shared<const EnergyTable>(energy().resolve(*machine.device));
    CHECK(wall_power(machine, 18).total() == Approx(20));
}

TEST_CASE("the energy and uncertainty files follow their schemas", "[energy]") {
    const std::string folder = std::string(ARCHSIM_SOURCE_DIR) + "/hardware_db/";
    for (const std::string name : {"energy", "uncertainty"}) {
        std::vector<Finding> findings;
        const SchemaCheck schema(folder + name + "_schema.json", findings);
        const auto document = parse_json_file(folder + name + ".json", findings);
        REQUIRE(document);
        for (Finding& finding : schema.validate(*document, folder + name + ".json"))
            findings.push_back(std::move(finding));
        for (const Finding& finding : findings)
            UNSCOPED_INFO(to_string(finding));
        CHECK(findings.empty());
    }
}

TEST_CASE("a broken energy file names the place", "[energy]") {
    CHECK_THROWS_AS(EnergyDatabase("/nonexistent/energy.json"), InputError);
    CHECK_THROWS_AS(UncertaintyTable("/nonexistent/uncertainty.json"), InputError);
    const test::TemporaryDatabase folder;
    std::ifstream original(std::string(ARCHSIM_SOURCE_DIR) + "/hardware_db/energy.json");
    std::string text{std::istreambuf_iterator<char>(original), {}};
    const auto at = text.find("pJ/MAC");
    REQUIRE(at != std::string::npos);
    text.replace(at, 6, "W");
    const std::string file = folder.write("energy.json", text);
    try {
        EnergyDatabase broken(file);
        FAIL("a wrong unit was accepted");
    } catch (const InputError& problem) {
        CHECK(std::string(problem.what()).find("/arithmetic/int4/energy") != std::string::npos);
    }
}

TEST_CASE("every kind of chip has a width for time and energy", "[uncertainty]") {
    const UncertaintyTable table(std::string(ARCHSIM_SOURCE_DIR) + "/hardware_db/uncertainty.json");
    const auto& session = laws::session();
    for (const char* name : {"A100", "KPU-T64", "Xeon-8480+", "TDA4VM", "DPU-ZCU102", "CGRA-Plasticine"}) {
        const auto d = device(name);
        const auto runtime = session.hardware().runtime_for(*d);
        for (const SpreadOf metric : {SpreadOf::latency, SpreadOf::energy}) {
            const Spread spread = table.spread(metric, *d, *runtime);
            INFO(name);
            CHECK(spread.low < 1);
            CHECK(spread.high > 1);
            CHECK_FALSE(spread.basis.empty());
        }
    }
}

// 7 nm: int8 0.1, bf16 0.59, fp16 0.72, fp32 1.69 pJ per multiply-accumulate (Jouppi et al., ISCA 2021), 0.56
// of that as logic at 3 nm and more at every other node.
TEST_CASE("no operation costs less than its multiplier alone", "[energy][laws]") {
    std::vector<Finding> findings;
    for (const auto& d : laws::session().hardware().all_devices(findings)) {
        const EnergyTable table = energy().resolve(*d);
        for (const auto& [precision, alone] :
             {std::pair{Precision::int8, 0.1}, std::pair{Precision::bf16, 0.59},
              std::pair{Precision::fp16, 0.72}, std::pair{Precision::fp32, 1.69}}) {
            INFO(d->id << " " << name_of(precision));
            if (d->supports(EngineClass::matrix, precision))
                CHECK(table.operation[static_cast<std::size_t>(precision)] >= 0.56 * alone / 2 * kPico);
        }
    }
}

// 132 multiprocessors x 0.87 W at 1.98 GHz times what measured power says, clock squared, and 0.06 W per GB
// of HBM, 0.12 W of GDDR, as drivers count it: 81559 MiB of an H100 are 85.5 GB.
TEST_CASE("static power is measured, or the sum of its parts, or a share of the rating", "[energy]") {
    const auto table = [](const char* name) { return energy().resolve(*device(name)); };
    const EnergyTable h100 = table("H100");
    REQUIRE(h100.multiple[static_cast<std::size_t>(PriceGroup::awake)].known());
    const double multiple = h100.multiple[static_cast<std::size_t>(PriceGroup::awake)].value,
                 each = 0.87 * multiple;
    CHECK(h100.awake_power.value == Approx(132 * each));
    constexpr double kMebi = 1.048576e-3; // GB
    const double standing_by = 0.06 * 81559 * kMebi;
    CHECK(h100.memory_power.value == Approx(standing_by));
    CHECK(h100.static_power.value == Approx(132 * each + standing_by));
    CHECK(h100.static_power.source->kind == SourceKind::fitted);
    CHECK(h100.static_power.note.find("132 units") != std::string::npos);
    CHECK(table("H100-PCIe").awake_power.value == Approx(114 * each * 1.755 * 1.755 / (1.98 * 1.98)));
    CHECK(table("B200").static_power.value ==
          Approx(148 * 0.89 * multiple * 1.965 * 1.965 / (1.98 * 1.98) + 0.06 * 183359 * kMebi));
    CHECK(table("T4").static_power.value ==
          Approx(40 * 0.93 * multiple * 1.59 * 1.59 / (1.98 * 1.98) + 0.12 * 15360 * kMebi));
    // Derived from measurements of the very chip: no formula stands in for it.
    CHECK(table("A100").static_power.value == Approx(65.7));
    CHECK(table("A100").memory_power.value == Approx(0.06 * 81920 * kMebi));
    CHECK(table("A100").awake_power.value == Approx(65.7 - 0.06 * 81920 * kMebi));
    CHECK_THAT(table("A100").static_power.note,
               Catch::Contains("die, clocks and regulators 60.5 W: derived") &&
                   Catch::Contains("DRAM standing by 5.15 W: assumed"));
    // Nobody measured a unit of this generation: the device's estimate, or a share of its rating.
    CHECK(table("RX-7900-XTX").static_power.value == Approx(81.7));
    Device unknown = *device("RX-7900-XTX");
    unknown.active_idle = {};
    CHECK(energy().resolve(unknown).static_power.value == Approx(0.16 * 355));
}

TEST_CASE("every static power says which of its parts is measured, and the parts add up", "[energy][laws]") {
    std::vector<Finding> findings;
    std::size_t known = 0;
    for (const auto& d : laws::session().hardware().all_devices(findings)) {
        const EnergyTable table = energy().resolve(*d);
        if (!table.static_power.known())
            continue;
        ++known;
        INFO(d->id << ": " << table.static_power.note);
        REQUIRE(table.awake_power.known());
        CHECK(table.awake_power.value + table.memory_power.value_or(0) == Approx(table.static_power.value));
        CHECK(table.awake_power.source);
        CHECK(table.awake_power.value > 0);
        CHECK(table.static_power.note.find(" W: ") != std::string::npos);
        CHECK((table.static_power.note.find("DRAM standing by") != std::string::npos) ==
              table.memory_power.known());
    }
    CHECK(known > 0);
}

// Compute takes 30 % of the die and memory 37 % of it.
TEST_CASE("a changed design carries static power with it", "[energy]") {
    Device own = *device("RK3588-NPU");
    own.process_nm.value = 16;
    DeviceChanges cores, memory, arrays;
    cores[Structure::units] = 2;
    memory[Structure::on_chip_memory] = 4;
    arrays[Structure::array] = 2;
    const auto table = [&](const DeviceChanges& changes) { return energy().resolve(*changed(own, changes)); };
    const EnergyTable as_is = table({});
    const auto die = [&](const DeviceChanges& changes) {
        return table(changes).awake_power.value / as_is.awake_power.value;
    };
    CHECK(die(cores) == Approx(1.3));
    CHECK(die(arrays) == Approx(1.9));
    CHECK(die(memory) == Approx(2.11));
    CHECK(table(memory).memory_power.value_or(0) == as_is.memory_power.value_or(0));
    for (const DeviceChanges& changes : {cores, memory, arrays}) // no limit makes arithmetic cheaper
        CHECK(table(changes).mac[static_cast<std::size_t>(Precision::int8)].value ==
              Approx(as_is.mac[static_cast<std::size_t>(Precision::int8)].value));
    // Where units were measured they are counted one by one.
    const Device h100 = *device("H100");
    CHECK(energy().resolve(*changed(h100, cores)).awake_power.value ==
          Approx(2 * energy().resolve(h100).awake_power.value));
}
