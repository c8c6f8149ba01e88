// The clock under a power limit, against hand-computed operating points.

#include "estimate/power_limit.hpp"

#include "laws/laws.hpp"
#include "map/gpu_machine.hpp"

#include <catch2/catch.hpp>

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
            {map(*gpu, *one, machine)}, {0}, {1.0}, gpu->map_network(one->network, machine)};
        return settle_clock(schedule, total_events(schedule, one->network), one->network, machine);
    }
};

/// The chip of a card at its boost clock, as it starts before the limit acts.
Machine at_boost(const std::string& name) {
    const auto device = laws::session().hardware().device(name).device;
    Machine m = *laws::session().machine(name, {});
    const double ratio = device->clock_boost.value / m.rate(Resource::matrix_cycles);
    for (Resource r : {Resource::matrix_cycles, Resource::vector_cycles, Resource::special_cycles,
                       Resource::overhead_cycles})
        set_rate(m, r, m.rate(r) * ratio);
    return m;
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
    // 0.2 of the clock still draws 20.5 W; 5.12 W allow a quarter of that pace.
    const OperatingPoint point = Product(5.12, 0, 1).settle();
    CHECK(point.limited);
    CHECK(point.clock_ratio == Approx(0.2));
    CHECK(point.interval_s == Approx(0.1374 / 5.12).epsilon(0.001));
    CHECK(point.latency_s == Approx(point.interval_s));
}

TEST_CASE("T4 and L4 do not hold their boost clock in tensor work", "[power]") {
    for (const std::string name : {"T4", "L4"}) {
        INFO(name);
        const Machine boost = at_boost(name);
        const Estimate loaded = laws::run_on("bert-large", boost, Precision::fp16, 32);
        CHECK(loaded.power_limited);
        CHECK(loaded.clock_ratio < 0.95);
        CHECK(loaded.power_w <= Approx(boost.power_limit_w).epsilon(0.001));
        // The clock that the database tabulates as sustained stays within the limit or is lowered further.
        const Result tabulated = laws::run("bert-large", name, Precision::fp16, 32);
        CHECK(tabulated.estimate.power_w <= Approx(boost.power_limit_w).epsilon(0.001));
    }
}

TEST_CASE("a kernel that mostly waits keeps its clock", "[power]") {
    const Estimate idle = laws::run_on("mobilenet_v2", at_boost("L4"), Precision::fp16, 1);
    CHECK_FALSE(idle.power_limited);
    CHECK(idle.clock_ratio == 1);
}

TEST_CASE("a limit below static power has no operating point, and the estimate says so", "[power]") {
    Machine m = *laws::session().machine("A100", {});
    m.power_limit_w = 0.9 * m.static_power_w;
    const Estimate e = laws::run_on("resnet50", m, Precision::fp16);
    CHECK(e.status == Status::unsupported);
    CHECK_THAT(e.reason, Catch::Contains("static power"));
}
