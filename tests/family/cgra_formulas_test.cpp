// Counts of the CGRA mapper, each derived by hand from docs/mappers/cgra.md.

#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// 8 units of 4 stages x 2 lanes: 64 multiply-adds, 128 operations; 256 per clock when two operands are
/// packed.
Rig cgra_fabric(double memory) {
    Rig rig(Family("cgra"), 8, 32, Precision::fp32);
    own(*rig.device, "compute_units") = fact(8);
    own(*rig.device, "stages") = fact(4);
    own(*rig.device, "lanes") = fact(2);
    own(*rig.device, "reconfiguration_time") = fact(2e-5);
    rig.set(Parameter::matrix_efficiency, 0.5).set(Parameter::vector_efficiency, 0.8);
    rig.set(Parameter::kernel_overhead, 3e-6).set(Parameter::layer_cycles, 5);
    rig.set(Parameter::configuration_size, 1000);
    return rig.buffer(memory);
}

double cycles(double m, double n, double k) {
    Network network(Precision::fp32);
    return demand(map_one(*mapper_of("cgra"), network.product(m, n, k), network, cgra_fabric(1e6)),
                  Resource::matrix_cycles, Lane::compute) *
           0.5;
}

} // namespace

TEST_CASE("CGRA: a product with a fused activation, the network in sections", "[formulas][cgra]") {
    Network network(Precision::fp32);
    SubgraphWork& s = network.product(30, 5, 10);
    network.product(30, 5, 10);
    network.product(30, 5, 10);
    network.follow(s, 150, 300);
    s.kv_bytes = 40; // of the 1200 bytes of input
    // Weights 3 x 200 bytes and twice 1800 bytes of activations: 4200 in memories of 2500, two sections. The
    // activations exceed half the memories.
    const Rig rig = cgra_fabric(2500);
    const Mapping m = map_one(*mapper_of("cgra"), s, network, rig);
    // Two operators to a section. This one does 1500 + 300 of 4500, twice that of a section's: with one unit
    // to each of the two, 1 + floor(0.8 x 6) = 5 of 8. ceil(10 / 4) x ceil(5 / 2) = 9 blocks on 5 units: two
    // passes of 30 rows at two operands per clock, fill 4. The section's other operators run meanwhile: 5 / 8
    // of that. Its first result waits for one row of 30 while the section takes half of 4500 multiply-adds.
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, (2 * 30 / 2 + 4) * 5 / 8.0, 0.5},
                      {Resource::vector_cycles, Lane::on_chip, 300 / 64.0, 0.8},
                      {Resource::matrix_cycles, Lane::overhead, 2 * 4500 / 2 / 256.0 / 30, 0.5},
                      {Resource::weight_bytes, Lane::memory, 200},
                      {Resource::dram_bytes, Lane::memory, 1800 - 40},
                      {Resource::weight_bytes, Lane::memory, 40},
                      {Resource::seconds, Lane::overhead, 3e-6},
                      {Resource::overhead_cycles, Lane::overhead, 5}});
    check_events(m.events, {{Precision::fp32, 1500}},
                 {{Event::vector_op, 300},
                  {Event::l1_byte, 1800 + 200 + 2 * 150 * 4}, // each operator on its own
                  {Event::routing_byte, 1800 + 200},
                  {Event::dram_byte, 200 + 1760 + 40}});
    check_allocation(m, 5, 8, 2, 1500 / (9 * 8 * 30.0));
    CHECK(m.ideal_cycles == Approx(2 * 1500 / 256.0));
    CHECK(std::string(m.allocation.scheme) == "placed pipeline");

    const Mapping fixed = mapper_of("cgra")->map_network(network.work(), rig.machine()).fixed;
    check_demands(fixed, {{Resource::seconds, Lane::overhead, 2 * 2e-5},
                          {Resource::dram_bytes, Lane::overhead, 2 * 1000}});
    check_events(fixed.events, {}, {{Event::configuration_byte, 2000}, {Event::dram_byte, 2000}});
}

TEST_CASE("CGRA: blocks that do not fill the units are copied", "[formulas][cgra]") {
    CHECK(cycles(30, 3, 7) == Approx(30 / 2 / 2.0 + 4)); // 2 x 2 blocks, two copies
    CHECK(cycles(30, 3, 10) == Approx(30 / 2.0 + 3));    // chains of 3: 4 x 2 blocks, no room for copies
    CHECK(cycles(9, 2, 4) == Approx(3 / 2.0 + 2)); // chains of 2: two blocks, 4 copies: ceil(9 / 4) rows
}

TEST_CASE("CGRA: no more copies than rows", "[formulas][cgra]") {
    Network network(Precision::fp32);
    const Mapping few = map_one(*mapper_of("cgra"), network.product(3, 2, 1), network, cgra_fabric(1e6));
    check_allocation(few, 3, 8, 1, 1 / 4.0); // a chain of one multiply-add
    Network second(Precision::fp32);
    const Mapping many = map_one(*mapper_of("cgra"), second.product(30, 3, 7), second, cgra_fabric(1e6));
    check_allocation(many, 8, 8, 1, 30 * 3 * 7 / (4 * 8 * 30.0));
    Network third(Precision::fp32);
    const Mapping groups =
        map_one(*mapper_of("cgra"), third.convolution(8, 4, 2, 1, 2), third, cgra_fabric(1e6));
    check_allocation(groups, 8, 8, 1, 1 / 2.0); // chains of 2: 2 groups of two blocks, two copies
}

TEST_CASE("CGRA: sections follow the operators where these are many", "[formulas][cgra]") {
    Network network(Precision::fp32);
    for (int i = 0; i < 20; ++i)
        network.product(30, 5, 10);
    Machine machine = cgra_fabric(1e9).machine();
    const auto reconfigured = [&] {
        return demand(mapper_of("cgra")->map_network(network.work(), machine).fixed, Resource::seconds,
                      Lane::overhead);
    };
    CHECK(reconfigured() == Approx(4 * 2e-5)); // 20 operators on 8 units take 3, the next power of two is 4
    machine.active_fraction = 0.5;
    CHECK(reconfigured() == Approx(8 * 2e-5)); // 5 on half of them
}

TEST_CASE("CGRA: a network placed whole shares the units by work", "[formulas][cgra]") {
    Network network(Precision::fp32);
    std::vector<SubgraphWork> all;
    for (const double rows : {100, 200, 500})
        all.push_back(network.product(rows, 20, 40)); // 800 rows of 800 multiply-adds
    const Rig rig = cgra_fabric(1e9);
    CHECK(mapper_of("cgra")->map_network(network.work(), rig.machine()).sections == 1);
    // One unit each, and floor(5 x part) more: 1 + 0, 1 + 1, 1 + 3 of 8.
    std::vector<double> used;
    for (const SubgraphWork& s : all)
        used.push_back(map_one(*mapper_of("cgra"), s, network, rig).allocation.units_used);
    CHECK(used == std::vector<double>{1, 2, 4});
}
