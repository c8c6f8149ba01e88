#include "laws/laws.hpp"
#include "map/accelerator_support.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// 64 units of 6 stages x 16 lanes.
Rig plasticine(double memory) {
    Rig rig(Family("cgra"), 64, 192, Precision::fp32);
    own(*rig.device, "compute_units") = fact(64);
    own(*rig.device, "stages") = fact(6);
    own(*rig.device, "lanes") = fact(16);
    own(*rig.device, "reconfiguration_time") = fact(2e-5);
    rig.buffer(memory);
    return rig;
}

} // namespace

TEST_CASE("reduction lies along stages, results along lanes, rows stream", "[cgra]") {
    const auto mapper = mapper_of("cgra");
    Network network(Precision::fp32);
    // K = 48: 8 chains; N = 128: 8 vectors; 64 blocks fill the chip.
    const Mapping full = map_one(*mapper, network.product(1000, 128, 48), network, plasticine(1e9));
    CHECK(demand(full, Resource::matrix_cycles, Lane::compute) == 1000 + 6);
    CHECK(full.ideal_cycles == Approx(1000));
    CHECK(full.allocation.units_used == 64);
    // One block: 64 copies take a part of the rows each.
    Network alone(Precision::fp32);
    const Mapping small = map_one(*mapper, alone.product(1000, 16, 6), alone, plasticine(1e9));
    CHECK(demand(small, Resource::matrix_cycles, Lane::compute) == 16 + 6);
}

TEST_CASE("a network that does not fit runs in sections, each after a reconfiguration", "[cgra]") {
    const auto mapper = mapper_of("cgra");
    Network network(Precision::fp32);
    const SubgraphWork s = network.product(1000, 128, 48); // 24.6 kB of weights, 704 kB of activations
    const Rig large = plasticine(16e6), small = plasticine(5e5);
    CHECK(demand(mapper->map_network(network.work(), large.machine()).fixed, Resource::seconds,
                 Lane::overhead) == 0);
    CHECK(demand(map_one(*mapper, s, network, large), Resource::weight_bytes, Lane::memory) == 0);
    network.product(1000, 128, 48);
    network.product(1000, 128, 48);
    const double sections = std::min(3.0, std::ceil((3 * 24576 + 2 * 704000) / 5e5));
    CHECK(demand(mapper->map_network(network.work(), small.machine()).fixed, Resource::seconds,
                 Lane::overhead) == Approx(sections * 2e-5));
    CHECK(demand(map_one(*mapper, s, network, small), Resource::weight_bytes, Lane::memory) == 24576);
}

TEST_CASE("larger units of a CGRA are no slower by more than their fill", "[cgra]") {
    for (const char* const model : {"mobilenet_v2", "squeezenet1_0", "vit_b_16"}) {
        Conditions larger;
        larger.precision = PrecisionConfig::uniform(Precision::fp32);
        const Workload asked{.model = laws::session().load(model)};
        const double stated = laws::session().estimate(asked, "CGRA-Plasticine", larger).estimate.latency_s;
        larger.structure[Structure::array] = 2;
        INFO(model);
        CHECK(laws::session().estimate(asked, "CGRA-Plasticine", larger).estimate.latency_s <= 1.05 * stated);
    }
}
