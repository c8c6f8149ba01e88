#include "family/kpu_schedule.hpp"
#include "map/accelerator_support.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

kpu::Fabric fabric(std::initializer_list<kpu::TileClass> classes, double rows, double cols) {
    kpu::Fabric f;
    for (const auto& c : classes)
        f.classes[f.class_count++] = c;
    f.grid_rows = rows;
    f.grid_cols = cols;
    return f;
}

Contraction product(double m, double n, double k) {
    Contraction c;
    c.m = m;
    c.n = n;
    c.k = k;
    return c;
}

} // namespace

TEST_CASE("one block spans 3 N - 2 steps, a chain pays the skew once", "[kpu]") {
    const kpu::Fabric one = fabric({{16, 16, 1, 1}}, 1, 1);
    CHECK(kpu::schedule_product(product(16, 16, 16), one).cycles == 3 * 16 - 2);
    CHECK(kpu::schedule_product(product(16, 32, 16), one).cycles == 2 * 16 + 30);
    CHECK(kpu::schedule_product(product(160, 160, 64), one).cycles == 100 * 64 + 30);
}

TEST_CASE("an iteration space smaller than the fabric takes a part of each tile", "[kpu]") {
    const kpu::Fabric grid = fabric({{16, 16, 64, 1}}, 8, 8);
    const kpu::Schedule small = kpu::schedule_product(product(32, 32, 100), grid);
    CHECK(small.tiles_used == 64); // 4 x 4 elements of each, which wavefronts cross sooner than 16 x 16
    CHECK(small.waves == 1);
    CHECK(small.cycles == 100 + 6);
    const kpu::Schedule full = kpu::schedule_product(product(128, 128, 100), grid);
    CHECK(full.tiles_used == 64);
    CHECK(full.cycles == 100 + 30);                                         // sixteen times the work
    CHECK(kpu::schedule_product(product(3, 3, 100), grid).tiles_used == 9); // one element of each
}

TEST_CASE("larger tiles are never slower", "[kpu]") {
    for (const double m : {1.0, 7.0, 49.0, 100.0, 3136.0})
        for (const double n : {1.0, 10.0, 64.0, 1000.0})
            for (const double k : {1.0, 9.0, 64.0, 576.0}) {
                double before = 0;
                for (const double side : {8.0, 8.8, 12.0, 16.0, 24.0, 32.0, 64.0}) {
                    const double now =
                        kpu::schedule_product(product(m, n, k), fabric({{side, side, 20, 1}}, 4, 5)).cycles;
                    CAPTURE(m, n, k, side);
                    CHECK((before == 0 || now <= before * (1 + 1e-9)));
                    before = now;
                }
            }
}

TEST_CASE("tiles of different kinds share a product so that they finish together", "[kpu]") {
    // 256 blocks of 16 x 16 or 16 blocks of 64 x 64: per wave 44/256 + 7/16 of the work.
    const kpu::Fabric mixed = fabric({{16, 16, 44, 1}, {64, 64, 7, 1}}, 8, 8);
    const kpu::Schedule s = kpu::schedule_product(product(256, 256, 1000), mixed);
    CHECK(s.waves == 2);
    CHECK(s.cycles == 2 * 1000 + 126);
    // A tiny product is faster on the small tiles alone: 36 blocks of 3 x 3 have less skew.
    CHECK(kpu::schedule_product(product(16, 16, 16), mixed).cycles == 16 + 4);
}

TEST_CASE("narrow formats pass several operands per clock", "[kpu]") {
    const kpu::Fabric f = fabric({{16, 16, 1, 2}}, 1, 1);
    CHECK(kpu::schedule_product(product(16, 16, 64), f).cycles == 32 + 30);
}

TEST_CASE("depthwise convolution makes one result per row and clock", "[kpu]") {
    Window w;
    w.in_channels = w.out_channels = w.groups = 64;
    w.kernel = {1, 3, 3};
    w.out = {1, 56, 56};
    // 4 blocks of 16 channels on 4 tiles: each streams all pixels once.
    const kpu::Schedule s = kpu::schedule_depthwise(w, fabric({{16, 16, 4, 1}}, 2, 2));
    CHECK(s.cycles == Approx(56 * 56 + 30));
}

TEST_CASE("the fabric of a precision is made of the tiles that have it", "[kpu]") {
    Rig rig(Family("kpu"), 44, 512);
    TileKind int8, bf16;
    int8.kind = "int8";
    int8.count = 44;
    int8.ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(512);
    bf16.kind = "bf16";
    bf16.count = 13;
    bf16.ops_per_clock[static_cast<std::size_t>(Precision::bf16)] = fact(512);
    family_fact<std::vector<TileKind>>(*rig.device, "tiles") = {int8, bf16};
    const kpu::Fabric f = kpu::fabric_of(rig.machine(), Precision::int8);
    CHECK(f.class_count == 1);
    CHECK(f.classes[0].rows == 16);
    CHECK(f.classes[0].count == 44);
    CHECK(f.elements() == 44 * 256);
}

TEST_CASE("weights come by DMA once, activations only when L3 is too small", "[kpu]") {
    Rig rig(Family("kpu"), 1, 512);
    rig.buffer(1e6);
    const auto mapper = mapper_of("kpu");
    Network small, large;
    const Mapping a = map_one(*mapper, small.convolution(16, 16, 56, 3), small, rig);
    CHECK(demand(a, Resource::weight_bytes, Lane::memory) == 16 * 16 * 9);
    CHECK(demand(a, Resource::dram_bytes, Lane::memory) == 0);
    const Mapping b = map_one(*mapper, large.convolution(16, 16, 512, 3), large, rig);
    // The largest even tiles that fit are 256 x 171 pixels of all input channels, 258 x 173 x 16 bytes. Two
    // rows and columns between each two of the 2 x 3 are read twice.
    CHECK(demand(b, Resource::dram_bytes, Lane::memory) ==
          Approx(16 * 512 * 512 * (1 + 514 * 516 / (512 * 512.0))));
    CHECK(b.events[Event::domain_token] > 0);
    CHECK(b.events[Event::instruction] == 0);
}
