// Counts of the systolic mapper, each derived by hand from docs/mappers/tpu.md.

#include "family/systolic_tiles.hpp"
#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// Two cores of two arrays of 4 x 8 cells, 512 bf16 operations per cycle: 128 cells make 256, so two operands
/// pass per clock. A vector unit of 32 fp32 operations over both cores.
Rig chip(double on_chip) {
    Rig rig(Family("tpu"), 4, 128, Precision::bf16);
    state_arrays(*rig.device, 2, 2, 4, 8, 8);
    Engine vector;
    vector.kind = EngineClass::vector;
    vector.count = 2;
    vector.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(16);
    rig.device->engines.push_back(vector);
    rig.set(Parameter::matrix_efficiency, 0.5).set(Parameter::vector_efficiency, 0.8);
    rig.set(Parameter::drain_cost, 0.25).set(Parameter::kernel_overhead, 2e-6);
    rig.set(Parameter::layer_cycles, 7).set(Parameter::input_refetch, 0.5);
    return rig.buffer(on_chip);
}

constexpr Precision kBf16 = Precision::bf16;

} // namespace

TEST_CASE("systolic: a product on two cores that share three images", "[formulas][systolic]") {
    // Three images of 10 rows: the busier core holds two, so 3 / 2 = 1.5 cores are busy on average and a
    // core streams 30 / 1.5 = 20 rows. K = 10, N = 20 are 3 x 3 tiles. Dealt out whole: 5 x 20 steps; rows
    // split over both arrays: 9 x 10 = 90 steps. Three tiles share 20 columns: 7 each. Fill 4 + 4 + 7 - 2
    // = 13. Two operands per clock: 103 / 2.
    Network network(kBf16, 3);
    SubgraphWork& s = network.product(30, 20, 10);
    // On chip: 2600 x 1.5 / 2 = 1950 bytes hold the 1800 bytes of activations; 150 of 400 weight bytes stay
    // too, and the cores (1.5, so 2) load the others twice.
    Rig rig = chip(2600);
    rig.set(Parameter::weight_residency, 1);
    const Mapping m = map_one(*mapper_of("tpu"), s, network, rig);
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 51.5, 0.5},
                      // 1200 bytes of results at 0.25 operations, on 32 x 1.5 / 2 = 24 per cycle
                      {Resource::vector_cycles, Lane::on_chip, 12.5, 0.8},
                      {Resource::weight_bytes, Lane::memory, 250 * 2},
                      {Resource::seconds, Lane::overhead, 2e-6},
                      {Resource::overhead_cycles, Lane::overhead, 7}});
    // Per core, times 1.5: weights 9 x 28 x 2 bytes; operands 9 tiles x 4 rows x 20 x 2 bytes; sums 9 x 7 x
    // 20 x 4 bytes, written and, because three tiles add to each, read.
    const double loads = 756, streamed = 2160, sums = 15120;
    check_events(m.events, {{kBf16, 6000}},
                 {{Event::weight_load_byte, loads},
                  {Event::accumulator_byte, sums},
                  // Operands over 8 columns, sums (half of the bytes read and written) over 4 rows.
                  {Event::systolic_hop, streamed * 8 + sums / 2 * 4},
                  {Event::l2_byte, streamed + 1800 + 400},
                  {Event::dram_byte, 500}});
    check_allocation(m, 4, 4, 0, 6000 / (9 * 4 * 7 * 20 * 1.5));
    CHECK(m.ideal_cycles == Approx(2 * 6000 / 512.0));
}

TEST_CASE("systolic: activations beyond the chip, a cache from outside", "[formulas][systolic]") {
    Network network(kBf16, 3);
    SubgraphWork& s = network.product(30, 20, 10);
    s.kv_bytes = 100;    // of the 600 bytes of input
    s.extra_bytes = 200; // a residual
    // 2000 x 1.5 / 2 = 1500 bytes do not hold 2000: results and half of the rest of both inputs move.
    const Mapping m = map_one(*mapper_of("tpu"), s, network, chip(2000));
    CHECK(demand(m, Resource::dram_bytes, Lane::memory) == Approx(1200 + 0.5 * (600 + 200 - 100)));
    CHECK(demand(m, Resource::weight_bytes, Lane::memory) == Approx(100 + 2 * 400));
    CHECK(m.events[Event::dram_byte] == Approx(1550 + 900));
}

TEST_CASE("systolic: the border of a program moves while the arrays wait", "[formulas][systolic]") {
    Network network(kBf16, 3);
    SubgraphWork& s = network.product(30, 20, 10); // 600 bytes in, 400 of weights for two cores
    Rig rig = chip(1e6);
    family_fact<Fact>(*rig.device, "first_load") = fact(900);
    rig.set(Parameter::inference_overhead, 1e-6);
    CHECK(demand(map_one(*mapper_of("tpu"), s, network, rig), Resource::weight_bytes, Lane::overhead) == 0);
    s.given_bytes = 600; // inputs of the network: nothing ran before
    const Mapping first = map_one(*mapper_of("tpu"), s, network, rig);
    CHECK(demand(first, Resource::weight_bytes, Lane::overhead) == Approx(900));
    CHECK(demand(first, Resource::weight_bytes, Lane::memory) == Approx(600 + 2 * 400 - 900));
    CHECK(first.events[Event::dram_byte] == Approx(600 + 2 * 400));
}

TEST_CASE("systolic: output-stationary tiles take K steps", "[formulas][systolic]") {
    // 20 rows per core: 5 x 3 tiles of max(10, 4) steps on two arrays, skew and drain 4 + 7 - 2 + 4.
    Network network(kBf16, 3);
    SubgraphWork& s = network.product(30, 20, 10);
    Rig rig = chip(1e6);
    family_fact<std::string>(*rig.device, "dataflow") = "output-stationary";
    const Mapping m = map_one(*mapper_of("tpu"), s, network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx((8 * 10 + 13) / 2.0 / 0.5));
    const double streamed = 15 * (4 + 7) * 10 * 2 * 1.5, sums = 15 * 28 * 4 * 1.5;
    CHECK(m.events[Event::accumulator_byte] == Approx(sums));
    CHECK(m.events[Event::systolic_hop] == Approx(streamed * 8 + sums * 4 / 2));
    CHECK(m.events[Event::l2_byte] == Approx(streamed + 1800 + 400));
    check_allocation(m, 4, 4, 0, 6000 / (15 * 28 * 10 * 1.5));
}

TEST_CASE("systolic: depthwise on the diagonal or on the vector unit", "[formulas][systolic]") {
    // 8 channels, 3 x 3, 10 x 10 pixels: four groups fit the 4 rows, so 2 x 9 tiles of 100 rows; rows split
    // over two arrays 18 x 50, fill of 4 x 4 cells 10, two operands per clock.
    Network network(kBf16);
    SubgraphWork& s = network.convolution(8, 8, 10, 3, 8);
    Rig rig = chip(1e6);
    rig.set(Parameter::depthwise_efficiency, 0.5);
    const Mapping array = map_one(*mapper_of("tpu"), s, network, rig);
    CHECK(demand(array, Resource::matrix_cycles, Lane::compute) == Approx((900 + 10) / 2.0 / 0.5));
    CHECK(array.allocation.useful_fraction == Approx(7200 / (18 * 16 * 100.0)));
    // A vector unit of 512 operations per core: 2 x 7200 / (512 x 0.5) = 56.25 cycles, and 1600 bytes of
    // results drain beside it.
    rig.device->engines[1].ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(512);
    check_demands(map_one(*mapper_of("tpu"), s, network, rig),
                  {{Resource::vector_cycles, Lane::compute, 400 / 512.0, 0.8},
                   {Resource::vector_cycles, Lane::compute, 56.25},
                   {Resource::weight_bytes, Lane::memory, 144},
                   {Resource::seconds, Lane::overhead, 2e-6},
                   {Resource::overhead_cycles, Lane::overhead, 7}});
}

TEST_CASE("systolic: without a vector unit the columns' activation units work", "[formulas][systolic]") {
    // 8 columns x 2 arrays x 1.5 cores = 24 operations per cycle for 300 operations and 50 roots.
    Network network(kBf16, 3);
    SubgraphWork& s = network.simple(OpKind::softmax, 50, 300, 50);
    Rig rig = chip(1e6);
    rig.device->engines.pop_back();
    const Mapping m = map_one(*mapper_of("tpu"), s, network, rig);
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == Approx(350 / 24.0 / 0.8));
    check_events(m.events, {},
                 {{Event::vector_op, 300}, {Event::special_op, 50}, {Event::l2_byte, 50 * 2 * 2}});
}

TEST_CASE("systolic: tiles in the balance of rows and arrays", "[formulas][systolic]") {
    const systolic::ArrayGroup arrays{4, 8, 3, false};
    // One tile of 10 rows: split in three, 4 rows each at least.
    const systolic::TileCount one = systolic::count_tiles({1, 10, 8, 4}, arrays);
    CHECK(one.cycles == 4 + 14);
    CHECK(one.arrays_used == 3); // more rows than an array is high
    CHECK(one.weight_loads == 32);
    CHECK(one.streamed == 4 * 10);
    CHECK(one.accumulations == 8 * 10); // nothing to add to
    CHECK(one.sum_hops == 8 * 10 * 4);  // and yet over every row of the tile
    // Three rows would wait for four rows of weights: four tiles of one row each, their steps split in three,
    // take 4 steps and fill in 1 + 1 + 8 - 2.
    const systolic::TileCount few = systolic::count_tiles({1, 3, 8, 4}, arrays);
    CHECK(few.cycles == 4 + 8);
    CHECK(few.arrays_used == 3);
    // Two tiles of 5 columns, two groups, the reduction cut in two: eight tiles of 3 steps in three rounds.
    const systolic::TileCount dealt = systolic::count_tiles({2, 3, 9, 4}, arrays);
    CHECK(dealt.cycles == 3 * 3 + 7);
    CHECK(dealt.arrays_used == 3);
    CHECK(dealt.padded_macs == 8 * 10 * 3);
}
