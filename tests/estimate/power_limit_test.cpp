// The clock under a power limit, against hand-computed operating points.

#include "estimate/price.hpp"
#include "estimate/schedule.hpp"
#include "hardware/limit_mode.hpp"

#include "laws/laws.hpp"
#include "map/gpu_machine.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace archsim;
using namespace archsim::test;

namespace {

/// A product of 4096^3 in fp16 on 100 units at 1 GHz: 6.87e10 multiply-accumulates in 1.342 ms, and at 2 pJ
/// each 0.1374 J: 102.4 W.
struct Product {
    Machine machine = gpu_machine();
    std::unique_ptr<OneOperator> one = matmul(4096, 4096, 4096, Precision::fp16);

    Product(double limit_w, double static_w, double clock_exponent) {
        auto table = std::make_shared<EnergyTable>();
        table->mac[static_cast<std::size_t>(Precision::fp16)] = fact(2e-12);
        table->clock_exponent = fact(clock_exponent);
        table->nominal_clock = fact(1e9);
        machine.energy = table;
        machine.power_limit_w = limit_w;
        machine.static_power_w = static_w;
        machine.combine_exponent = std::numeric_limits<double>::infinity();
        set_rate(machine, Resource::dram_bytes, 1e14); // only arithmetic takes time
        set_rate(machine, Resource::weight_bytes, 1e14);
        set_rate(machine, Resource::l2_bytes, 1e15);
    }
    OperatingPoint settle() {
        const Mapper* gpu = mapper_of("gpu");
        const BatchSchedule schedule{
            {map(*gpu, *one, machine)}, {1.0}, {0}, {1.0}, gpu->map_network(one->network, machine)};
        ScheduleCosts costs;
        return settle_clock(schedule, total_events(schedule, one->network), machine, costs);
    }
};

/// The clock at which a kernel that does nothing but multiply and add takes what the limit leaves, by the
/// prices of its device; `share` of the peak rate, as products reach it.
double clock_at_limit(const std::string& name, Precision p, double share) {
    const Machine m = *laws::session().machine(name, {});
    const double boost = m.rate(Resource::overhead_cycles);
    const double joules = m.energy->operation[static_cast<std::size_t>(p)];
    const double rate = m.matrix_ops(p) > 0 ? m.matrix_ops(p) : m.vector_ops(p);
    const auto power = [&](double ratio) {
        return static_power_at(m, ratio) +
               share * rate * boost * ratio * joules * m.energy->voltage_factor(boost * ratio);
    };
    double low = 0.2, high = 1;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (power(middle) > m.power_limit_w ? high : low) = middle;
    }
    return low * boost;
}

} // namespace

TEST_CASE("below the limit the tabulated clock holds", "[power]") {
    const OperatingPoint point = Product(120, 10, 1).settle();
    CHECK_FALSE(point.limited);
    CHECK(point.clock_ratio == 1);
    CHECK(point.latency_s == Approx(2 * std::pow(4096.0, 3) / (1024 * 100) / 1e9).epsilon(0.002));
}

TEST_CASE("above the limit the clock drops until energy over time fits", "[power]") {
    // 60 W less 8.8 W static leave 51.2 W of 102.4 W: half the clock, twice the time.
    const OperatingPoint fixed_voltage = Product(60, 8.8, 1).settle();
    CHECK(fixed_voltage.limited);
    CHECK(fixed_voltage.clock_ratio == Approx(0.5).epsilon(0.001));
    CHECK(fixed_voltage.latency_s == Approx(2 * 1.342e-3).epsilon(0.002));
    // Power ~ f^3 when the voltage follows the clock: 0.5^(1/3) = 0.794.
    const OperatingPoint scaled_voltage = Product(60, 8.8, 3).settle();
    CHECK(scaled_voltage.clock_ratio == Approx(0.794).epsilon(0.001));
}

TEST_CASE("where no clock fits, the machine pauses", "[power]") {
    // 0.01 of the clock still draws 1.02 W; 0.512 W allow half of that pace.
    const OperatingPoint point = Product(0.512, 0, 1).settle();
    CHECK(point.limited);
    CHECK(point.clock_ratio == Approx(0.01));
    CHECK(point.interval_s == Approx(0.1374 / 0.512).epsilon(0.001));
    CHECK(point.latency_s == Approx(point.interval_s));
}

TEST_CASE("cards at their limit run at the clocks that were published for it", "[power]") {
    // te42kyfo/gpu-benches@1c36d50: a kernel of fp32 multiply-adds takes A40 from 1740 to 1635 MHz and L40
    // from 2490 to between 1365 and 1545 MHz, both at 300 W; L40's prices come from other cards of its node,
    // at the voltage of its own clock. Prices carry multiples that measured power of networks asks for: the
    // margins are what these leave open.
    CHECK(clock_at_limit("A40", Precision::fp32, 1) == Approx(1635e6).epsilon(0.08));
    CHECK(clock_at_limit("L40", Precision::fp32, 1) == Approx(1455e6).epsilon(0.08));
    // Dense products: T4 leaves its boost for less than two thirds of it (Jia 2019), H100 draws 700 W at 1.4
    // to 1.75 GHz, L4 72 W at the clock that published BERT latencies ask for.
    CHECK(clock_at_limit("T4", Precision::fp16, 0.85) == Approx(900e6).epsilon(0.2));
    CHECK(clock_at_limit("H100", Precision::bf16, 0.8) == Approx(1575e6).epsilon(0.12));
    CHECK(clock_at_limit("L4", Precision::fp16, 0.85) == Approx(1450e6).epsilon(0.12));
}

TEST_CASE("the boost clock is a ceiling that only the power limit lowers", "[power]") {
    for (const std::string name : {"T4", "L4", "H100", "A10"}) {
        INFO(name);
        const Machine m = *laws::session().machine(name, {});
        CHECK(m.rate(Resource::overhead_cycles) ==
              laws::session().hardware().device(name).device->clock_boost.value);
        const Estimate loaded = laws::run_on("bert-large", m, Precision::fp16, 32);
        CHECK(loaded.power_limited);
        CHECK(loaded.clock_ratio < 0.98);
        CHECK(loaded.power_w <= Approx(m.power_limit_w).epsilon(0.001));
        const Estimate light = laws::run_on("mobilenet_v2", m, Precision::fp16, 1);
        CHECK_FALSE(light.power_limited);
        CHECK(light.clock_ratio == 1);
    }
}

TEST_CASE("a limit below static power has no operating point, and the estimate says so", "[power]") {
    Machine m = *laws::session().machine("A100", {});
    m.power_limit_w = 0.9 * m.static_power_w;
    const Estimate e = laws::run_on("resnet50", m, Precision::fp16);
    CHECK(e.status == Status::unsupported);
    CHECK_THAT(e.reason, Catch::Contains("static power"));
}

TEST_CASE("a limit that is set holds a device without modes to it", "[power]") {
    CHECK(limit_of_mode("350W") == 350);
    CHECK(limit_of_mode("12.5w") == 12.5);
    for (const char* other : {"", "W", "350", "MAXN", "-5W", "0W", "1e400W", "35 W"})
        CHECK_FALSE(limit_of_mode(other));
    const DeviceChoice choice = laws::session().hardware().device("h100@350w");
    CHECK(choice.device->id == "H100");
    CHECK(choice.power_mode == "350W");
    const Machine set = *laws::session().machine("H100@350W", {});
    const Machine own = *laws::session().machine("H100", {});
    CHECK(set.power_limit_w == 350);
    CHECK(set.mode_name() == "350W");
    CHECK(own.power_limit_w == 700);
    const Estimate held = laws::run_on("bert-large", set, Precision::fp16, 32);
    const Estimate free = laws::run_on("bert-large", own, Precision::fp16, 32);
    CHECK(held.power_w <= Approx(350).epsilon(0.001));
    CHECK(held.latency_s > free.latency_s);
    CHECK(held.energy_per_inference_j < free.energy_per_inference_j); // at a lower voltage
    CHECK_THROWS_WITH(laws::session().hardware().device("H100@800W"),
                      Catch::Contains("a limit of 800 W exceeds its 700 W"));
    CHECK_THROWS_WITH(laws::session().hardware().device("Jetson-Orin-NX@13W"),
                      Catch::Contains("no power mode \"13W\""));
}

TEST_CASE("a die that is awake draws what it does at the clock that its card runs at", "[power]") {
    // Worked, RTX 3090: 82 multiprocessors at 1920 MHz draw (1920 / 1695)^2 of what they do at the rated
    // boost.
    for (const std::string& name : laws::hardware()) {
        const Machine m = *laws::session().machine(name, {});
        if (m.mode || !m.energy || !m.energy->clocked_power.known())
            continue;
        INFO(name);
        const double clock = m.rate(Resource::overhead_cycles), boost = m.device->clock_boost.value_or(clock),
                     memory = m.energy->memory_power.value_or(0), awake = m.static_power_w - memory;
        const double down = static_power_at(m, boost / clock) - memory;
        CHECK(down ==
              Approx(awake * std::pow(boost / clock, m.energy->clock_exponent.value_or(1))).epsilon(0.01));
    }
}

TEST_CASE("answers in four bits draw what owners of cards logged", "[power]") {
    // noonghunna/club-3090, docs/HARDWARE.md and issues 58, 104 and 697, one answer at a time: with kernels
    // that unpack every weight RTX 3090 334 to 388 W, RTX 4090 393 W at 2610 MHz, RTX 5090 547 W; with fp8
    // weights, which nothing unpacks, RTX 4090 247 W.
    const auto draws = [](const char* model, const char* device, const char* stack, Precision weights) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(weights);
        conditions.stack = stack;
        const Result r = laws::session().estimate(
            {.model = laws::session().load(model), .prompt = Prompt{.tokens = 64, .generate = 256}}, device,
            conditions);
        CAPTURE(device, stack, r.estimate.reason);
        REQUIRE(r.generation);
        return r.generation->power_per_device_w();
    };
    CHECK(draws("qwen3.5-27b", "RTX-3090", "llama.cpp", Precision::int4) == Approx(350).epsilon(0.15));
    CHECK(draws("qwen3.5-27b", "RTX-4090", "llama.cpp", Precision::int4) == Approx(393).epsilon(0.2));
    CHECK(draws("qwen3.5-27b", "RTX-5090", "vllm", Precision::int4) == Approx(547).epsilon(0.15));
    CHECK(draws("qwen3-4b", "RTX-4090", "vllm", Precision::fp8) == Approx(247).epsilon(0.15));
}

TEST_CASE("a board for a desk draws its limit under dense products, at its clock", "[power]") {
    // Logged of FLUX.1, in blocks that are unpacked before 16-bit products: RTX 3060 168 of 170 W, RTX 3090
    // 348 of 350 W (hardware_db/energy.json, board_logs).
    for (const auto& [device, watts] : {std::pair("RTX-3060", 168.0), std::pair("RTX-3090", 348.0)}) {
        const Result r = laws::session().estimate({.model = laws::session().load("flux1-dev-Q4_K_S.gguf")},
                                                  device, Conditions{});
        CAPTURE(device, r.estimate.reason);
        REQUIRE(r.ok());
        CHECK(r.estimate.power_w == Approx(watts).epsilon(0.15));
        CHECK(r.estimate.power_w <= r.device->tdp.value * (1 + 1e-9));
        for (const ResultPart& part : r.parts)
            CHECK(part.result->estimate.clock_ratio == 1);
    }
    // Of products alone: what a byte of memory costs stays what it is.
    Conditions half;
    half.precision = PrecisionConfig::uniform(Precision::fp16);
    const Result net = laws::session().estimate({.model = laws::session().load("vgg16")}, "RTX-3060", half);
    REQUIRE(net.ok());
    const Estimate& e = net.estimate;
    CHECK(e.energy_scale > 1.5);
    CHECK(e.energy[Event::dram_byte] ==
          Approx(e.events[Event::dram_byte] * (*net.machine->energy)[Event::dram_byte].value));
    const auto more = [](const char* device) {
        const auto machine = laws::session().machine(device, {});
        return machine->energy->rated_mac[static_cast<std::size_t>(Precision::fp16)];
    };
    CHECK(more("RTX-4070") > 0);
    for (const char* stated_otherwise : {"A40", "L40S", "Jetson-Orin-NX", "Apple-M2-Max-GPU", "GTX-1080"})
        CHECK(more(stated_otherwise) == 0);
}

TEST_CASE("a limit below the rating of a board lowers its clock, and the energy follows", "[power]") {
    // As with nvidia-smi -pl.
    Conditions half;
    half.precision = PrecisionConfig::uniform(Precision::fp16);
    const Workload vgg{.model = laws::session().load("vgg16"), .batch = 32};
    for (const char* board : {"RTX-3060", "RTX-3090", "RTX-4090"}) {
        const auto at = [&](double share) {
            Conditions limited = half;
            limited.changes[Lever::power_limit] = share;
            Result r = laws::session().estimate(vgg, board, limited);
            REQUIRE(r.ok());
            return r;
        };
        const Result rated = at(1);
        const double limit = rated.machine->power_limit_w;
        CAPTURE(board, rated.estimate.power_w, limit);
        CHECK(rated.estimate.clock_ratio == 1);
        CHECK_FALSE(rated.estimate.power_limited);
        CHECK(at(1.5).estimate.latency_s == rated.estimate.latency_s);
        Estimate before = rated.estimate;
        for (const double share : {0.9, 0.75, 0.6}) {
            const Estimate now = at(share).estimate;
            CAPTURE(share, now.power_w, now.clock_ratio);
            CHECK(now.power_w <= share * limit * (1 + 1e-6));
            if (rated.estimate.power_w <= share * limit)
                continue;
            CHECK(now.power_limited);
            CHECK(now.power_w == Approx(share * limit));
            CHECK(now.clock_ratio < before.clock_ratio);
            CHECK(now.latency_s > before.latency_s);
            if (before.clock_ratio == 1) // further down static energy takes back what voltage saves
                CHECK(now.energy_per_inference_j < before.energy_per_inference_j);
            before = now;
        }
        CHECK(before.clock_ratio < 1);
        const Estimate named =
            laws::session().estimate(vgg, fmt::format("{}@{:g}W", board, 0.6 * limit), half).estimate;
        CHECK(named.power_w == Approx(before.power_w));
        CHECK(named.latency_s == Approx(before.latency_s));
        // Just below what it draws it is hardly slower.
        const double near = at(rated.estimate.power_w / limit * 0.999).estimate.latency_s;
        CHECK(near == Approx(rated.estimate.latency_s).epsilon(0.002));
    }
}

TEST_CASE("what a larger die draws more it is granted, and its clocked part grows with it", "[power]") {
    const auto has = [](const Machine& m) { return std::max(m.power_limit_w, m.power_budget_w); };
    for (const char* device : {"H100", "RTX-4090", "A100", "TPU-v4", "KPU-T256", "Hailo-8", "DPU-ZCU102"})
        for (const Structure part : {Structure::units, Structure::array, Structure::on_chip_memory}) {
            Conditions larger;
            larger.structure[part] = 2;
            const auto own = laws::session().machine(device, {}),
                       grown = laws::session().machine(device, larger);
            CAPTURE(device, name_of(part));
            CHECK(grown->static_power_w >= own->static_power_w);
            CHECK(has(*grown) - grown->static_power_w == Approx(has(*own) - own->static_power_w));
            const EnergyTable &a = *own->energy, &b = *grown->energy;
            if (a.clocked_power.known())
                CHECK(b.clocked_power.value / a.clocked_power.value ==
                      Approx(b.awake_power.value / a.awake_power.value));
            if (part == Structure::units && a.clocked_power.known())
                CHECK(b.clocked_power.value == Approx(2 * a.clocked_power.value));
        }
}
