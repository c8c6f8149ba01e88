// Counts of the domain-flow mapper, each derived by hand from docs/mappers/kpu.md.

#include "family/kpu_schedule.hpp"
#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// A grid of 2 x 3 equal tiles that share 384 bf16 operations per cycle: 32 multiply-accumulates each, 5 x 5
/// elements of 1.28 per clock. All bandwidths are stated.
Rig grid(double l3) {
    Rig rig(Family("kpu"), 6, 64, Precision::bf16);
    family_fact<std::array<Fact, 2>>(*rig.device, "grid")[0] = fact(2);
    family_fact<std::array<Fact, 2>>(*rig.device, "grid")[1] = fact(3);
    rig.device->memory = {level("L1", "chip", fact(10), fact(1e12)),
                          level("L2", "chip", fact(100), fact(1e12)),
                          level("L3", "chip", fact(l3), fact(1e12))};
    rig.set(Parameter::matrix_efficiency, 0.5).set(Parameter::vector_efficiency, 0.8);
    rig.set(Parameter::drain_cost, 0.25)
        .set(Parameter::kernel_overhead, 3e-6)
        .set(Parameter::layer_cycles, 5);
    return rig;
}

kpu::Fabric mixed(std::initializer_list<kpu::TileClass> classes, double rows, double cols) {
    kpu::Fabric f;
    for (const auto& c : classes)
        f.classes[f.class_count++] = c;
    f.grid_rows = rows;
    f.grid_cols = cols;
    return f;
}

} // namespace

TEST_CASE("KPU: a product whose activations leave L3", "[formulas][kpu]") {
    Network network(Precision::bf16);
    SubgraphWork& s = network.product(23, 17, 64);
    s.kv_bytes = 100; // of the 2944 bytes of input
    const Mapping m = map_one(*mapper_of("kpu"), s, network, grid(1000));
    // ceil(23 / 5) x ceil(17 / 5) = 20 blocks of 64 / 1.28 = 50 steps on 6 tiles: 4 waves and a skew of 8.
    const double edge = 20 * (5 + 5) * 64 * 2;
    // The grid is 15 columns wide and 10 rows high: rows pass ceil(17 / 15) times, columns ceil(23 / 10).
    const double l2 = (23 * 64 * 2 + 64 * 17 * 3) * 2;
    const double input = 23 * 64 * 2, weights = 64 * 17 * 2, output = 23 * 17 * 2;
    const double l3 = input * 2 + weights * 3 + output;
    const double spilled = input + output - 100;
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 4 * 50 + 8, 0.5},
                      // 782 bytes of results at 0.25 operations on 6 x 25 x 1.28 elements
                      {Resource::vector_cycles, Lane::on_chip, 195.5 / 192, 0.8},
                      {Resource::l1_bytes, Lane::on_chip, edge},
                      {Resource::l2_bytes, Lane::on_chip, l2},
                      {Resource::llc_bytes, Lane::on_chip, l3},
                      {Resource::weight_bytes, Lane::memory, weights + 100},
                      {Resource::dram_bytes, Lane::memory, spilled},
                      {Resource::seconds, Lane::overhead, 3e-6},
                      {Resource::overhead_cycles, Lane::overhead, 5}});
    const double macs = 23 * 17 * 64, dram = weights + 100 + spilled;
    check_events(m.events, {{Precision::bf16, macs}},
                 {{Event::l1_byte, edge},
                  {Event::l2_byte, l2},
                  {Event::llc_byte, l3},
                  {Event::dram_byte, dram},
                  {Event::streamer_byte, l2 + l3 + dram},
                  {Event::domain_token, (edge + input + output) / 2}, // one per operand
                  {Event::systolic_hop, 2 * macs * 2}});              // both operands go on to a neighbour
    check_allocation(m, 6, 6, 4, macs / (20 * 25 * 64));
    CHECK(m.ideal_cycles == Approx(2 * macs / 384));
}

TEST_CASE("KPU: depthwise convolution keeps channels on rows and taps on columns", "[formulas][kpu]") {
    // 7 channels and 9 taps are 2 x 2 blocks of 36 / 1.28 steps on 6 tiles, which share them evenly.
    Network network(Precision::bf16);
    SubgraphWork& s = network.convolution(7, 7, 6, 3, 7);
    const Mapping m = map_one(*mapper_of("kpu"), s, network, grid(1e6));
    const double steps = 36 / 1.28;
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx((4 / 6.0 * steps + 8) / 0.5));
    CHECK(m.events[Event::l1_byte] == Approx(4 * 5 * 36 * 2)); // an operand per row and pixel
    CHECK(m.events[Event::l2_byte] == Approx(4 * 5 * 36 * 2));
    CHECK(m.events[Event::dram_byte] == 63 * 2);
    check_allocation(m, 6, 6, 4 / 6.0, 36 * 7 * 9 / (4 * 25 * 36.0));
}

TEST_CASE("KPU: a small product takes a part of several tiles", "[formulas][kpu]") {
    Network network(Precision::bf16);
    const Mapping m = map_one(*mapper_of("kpu"), network.product(5, 5, 64), network, grid(1e6));
    check_allocation(m, 4, 6, 1, 25 / (4 * 9.0)); // 3 x 3 elements of each
}

TEST_CASE("KPU: element-wise work alone uses every element", "[formulas][kpu]") {
    Network network(Precision::bf16);
    const Mapping m =
        map_one(*mapper_of("kpu"), network.simple(OpKind::elementwise, 960, 960), network, grid(1e6));
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == Approx(960 / 192.0 / 0.8));
    check_allocation(m, 6, 6, 0, 1);
    CHECK(m.events[Event::l2_byte] == 960 * 4); // read and written
}

TEST_CASE("KPU: fabrics of several kinds of tiles", "[formulas][kpu]") {
    Rig rig(Family("kpu"), 44, 512);
    TileKind small, wide;
    small.count = 12;
    small.ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(80);
    wide.count = 3;
    wide.rows = fact(4);
    wide.ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(60);
    family_fact<std::vector<TileKind>>(*rig.device, "tiles") = {small, wide};
    Machine machine = rig.machine();
    machine.active_fraction = 0.5;
    const kpu::Fabric f = kpu::fabric_of(machine, Precision::int8);
    REQUIRE(f.class_count == 2);
    // 40 per clock: 6 rows, 40 / 6 -> 6 columns, 40 / 36 each; 30 per clock on 4 rows: 7 columns.
    CHECK(f.classes[0].rows == 6);
    CHECK(f.classes[0].cols == 6);
    CHECK(f.classes[0].pump == Approx(40 / 36.0));
    CHECK(f.classes[0].count == 6);
    CHECK(f.classes[1].cols == 7);
    CHECK(f.classes[1].pump == Approx(30 / 28.0));
    CHECK(f.classes[1].count == 1.5);
    CHECK(f.tiles() == 7.5);
    CHECK(f.elements() == Approx(6 * 40 + 1.5 * 30));
    CHECK(f.grid_rows == 3); // the square that holds 7.5
    CHECK(f.grid_cols == 3);
}

TEST_CASE("KPU: kinds of tiles finish together, the widest describes the schedule", "[formulas][kpu]") {
    // 24 x 24 results, K = 90. On 4 x 4: 36 blocks of 90 steps; on 8 x 8 at two per clock: 9 of 45. Six small
    // and two large tiles do 6 / (36 x 90) + 2 / (9 x 45) of the work per step: 147.27 steps, two waves of
    // 90, skew 14. The large tiles alone take 9 / 2 -> 5 waves of 45 and 14 = 239; the small alone 6 x 90
    // + 6.
    const kpu::Fabric f = mixed({{4, 4, 6, 1}, {8, 8, 2, 2}}, 2, 4);
    Contraction c;
    c.m = c.n = 24;
    c.k = 90;
    const kpu::Schedule s = kpu::schedule_product(c, f);
    CHECK(s.waves == 2);
    CHECK(s.cycles == 2 * 90 + 14);
    CHECK(s.tiles_used == 8);
    CHECK(s.rows == 8);
    CHECK(s.padded_macs == 9 * 64 * 90);
    CHECK(s.edge_elements == 9 * 16 * 90);
    CHECK(s.row_passes == 1); // 8 x 4 columns
    CHECK(s.col_passes == 2); // 8 x 2 rows
}

TEST_CASE("KPU: the order in which kinds of tiles are listed does not matter", "[formulas][kpu]") {
    const kpu::TileClass small{4, 4, 12, 1}, large{8, 8, 2, 1};
    Contraction c;
    c.m = c.n = 16;
    c.k = 90;
    const kpu::Schedule a = kpu::schedule_product(c, mixed({small, large}, 2, 4));
    const kpu::Schedule b = kpu::schedule_product(c, mixed({large, small}, 2, 4));
    CHECK(a.cycles == b.cycles);
    CHECK(a.waves == b.waves);
    CHECK(a.tiles_used == b.tiles_used);
    CHECK(a.padded_macs == b.padded_macs);
    CHECK(a.edge_elements == b.edge_elements);
    CHECK(a.row_passes == b.row_passes);
}
