// Which cores of a hybrid processor work on one inference.

#include "family/cpu_machines.hpp"
#include "family/cpu_view.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// 6 cores of 32 fp32 operations per cycle at 1 GHz beside others.
Machine hybrid(double count, double fp32, double clock, bool streams = false) {
    Machine m = machine_of(
        {.count = 6, .lanes = 8, .fp32 = 32, .int8 = 128, .l2_bytes = 1e6, .l3_bytes = 1e7}, false, streams);
    auto device = std::make_shared<Device>(*m.device);
    Engine others = device->engines.front();
    others.count = count;
    others.clock = fact(clock);
    others.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(fp32);
    device->engines.push_back(others);
    m.device = device;
    return m;
}

} // namespace

TEST_CASE("efficiency cores join one inference where more hands outweigh their pace", "[cpu]") {
    // 14 x 16 x 0.8 = 179 < 6 x 32 = 192: the inference is left to the six.
    CHECK(cpu::team_of(hybrid(8, 16, 0.8e9)).cores == 6);
    // The same together as alone: no reason to wake them.
    CHECK(cpu::team_of(hybrid(6, 16, 1e9)).cores == 6);
    // 10 x 16 x 1.25 = 200 > 192, at the pace of the slowest: 20 of 32.
    const cpu::Team many = cpu::team_of(hybrid(4, 16, 1.25e9));
    CHECK(many.cores == 10);
    CHECK(many.pace == Approx(0.625));
    const cpu::Team equal = cpu::team_of(hybrid(4, 32, 1e9));
    CHECK(equal.cores == 10);
    CHECK(equal.pace == 1);
}

TEST_CASE("of streams every core has its own: other kinds are counted as instances", "[cpu]") {
    CHECK(cpu::team_of(hybrid(4, 32, 1e9, true)).cores == 6);
}

TEST_CASE("instances of several cores divide the cores, and their caches with weights of their own",
          "[cpu]") {
    Machine m = machine_of(
        {.count = 56, .lanes = 16, .fp32 = 64, .int8 = 256, .l2_bytes = 2e6, .l3_bytes = 1e8}, false, true);
    m.parameters.facts[static_cast<std::size_t>(Parameter::cores_per_inference)] = fact(4);
    auto one = matmul(4096, 4096, 64, Precision::fp32);
    CHECK(mapper_for(m.device->family).map_network(one->network, m).instances == 14);
    const Mapping four = counted(*one, m);
    CHECK(demand_on(four, Resource::vector_cycles)->amount ==
          Approx(2.0 * 4096 * 4096 * 64 / (64 * 4)).epsilon(0.01));
    m.parameters.facts[static_cast<std::size_t>(Parameter::cores_per_inference)] =
        fact(100); // no more than there are
    CHECK(mapper_for(m.device->family).map_network(one->network, m).instances == 1);
}

TEST_CASE("the slowest core of a team sets the pace of a product", "[cpu]") {
    auto one = matmul(1600, 1600, 512, Precision::fp32);
    const auto cycles = [&](const Machine& machine) {
        const Mapping out = counted(*one, machine);
        return demand_on(out, Resource::vector_cycles)->amount;
    };
    const double alone = cycles(hybrid(8, 16, 0.8e9));
    CHECK(alone == Approx(2.0 * 1600 * 1600 * 512 / (32 * 6)).epsilon(0.01));
    CHECK(cycles(hybrid(4, 16, 1.25e9)) == Approx(2.0 * 1600 * 1600 * 512 / (32 * 0.625 * 10)).epsilon(0.01));
}
