#include "family/systolic_tiles.hpp"
#include "map/accelerator_support.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <string>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("tiles that wait for each other take what SCALE-Sim counts", "[systolic]") {
    systolic::ArrayGroup array{.rows = 32, .cols = 32, .folds_apart = true};
    CHECK(systolic::count_tiles({1, 32, 32, 32}, array).cycles == 125);
    CHECK(systolic::count_tiles({1, 100, 64, 64}, array).cycles == 2 * 2 * (96 + 100 - 2) - 1);
    array.output_stationary = true;
    CHECK(systolic::count_tiles({1, 100, 64, 64}, array).cycles == 4 * 2 * (64 + 64 - 2) - 1);
    // Its own count of 256 products on 128 x 128, of which some are given with M and N exchanged.
    array = {.rows = 128, .cols = 128, .folds_apart = true};
    std::ifstream file(std::string(ARCHSIM_SOURCE_DIR) + "/tests/accelerators/scalesim_tpu_gemm.csv");
    std::string line;
    std::getline(file, line);
    int rows = 0;
    for (; std::getline(file, line); ++rows) {
        double m = 0, n = 0, k = 0, cycles = 0;
        REQUIRE(std::sscanf(line.c_str(), "%lf,%lf,%lf,f16,%lf", &m, &n, &k, &cycles) == 4);
        INFO(line);
        CHECK((systolic::count_tiles({1, m, n, k}, array).cycles == cycles ||
               systolic::count_tiles({1, n, m, k}, array).cycles == cycles));
    }
    CHECK(rows == 256);
}

TEST_CASE("arrays share tiles and hide weight loads", "[systolic]") {
    const systolic::ArrayGroup arrays{128, 128, 4, false};
    const double fill = 128 + 128 + 128 - 2;
    // K = N = 256: 4 tiles, one per array, 1000 rows each.
    CHECK(systolic::count_tiles({1, 1000, 256, 256}, arrays).cycles == 1000 + fill);
    // One tile: its rows are split over the four arrays.
    CHECK(systolic::count_tiles({1, 1000, 128, 128}, arrays).cycles == 250 + fill);
    // 16 rows stream faster than 128 rows of weights load: 16 x 2 tiles of 16 rows fill sooner.
    CHECK(systolic::count_tiles({1, 16, 256, 256}, arrays).cycles == 32 / 4 * 16 + 16 + 16 + 128 - 2);
    CHECK_FALSE(systolic::count_tiles({1, 16, 256, 256}, arrays).loads_bind);
    CHECK(systolic::count_tiles({1, 0.5, 256, 256}, arrays).loads_bind);
    CHECK_FALSE(systolic::count_tiles({1, 1000, 256, 256}, arrays).loads_bind);
    // Padding: one channel more costs a whole column of tiles, which share the channels.
    CHECK(systolic::count_tiles({1, 1000, 129, 128}, {128, 128, 1, false}).cycles ==
          2000 + 128 + 128 + 65 - 2);
    CHECK(systolic::count_tiles({1, 1000, 129, 128}, {128, 128, 1, false}).padded_macs ==
          2 * 128 * 65 * 1000.0);
}

TEST_CASE("output-stationary arrays take K steps per tile", "[systolic]") {
    const systolic::TileCount t = systolic::count_tiles({1, 256, 128, 512}, {128, 128, 1, true});
    CHECK(t.cycles == 2 * 512 + 128 + 128 - 2 + 128);
}

TEST_CASE("groups pack along the diagonal", "[systolic]") {
    Window w;
    w.in_channels = w.out_channels = 128;
    w.groups = 32; // 4 -> 4 channels
    w.kernel = {1, 3, 3};
    w.out = {1, 56, 56};
    const systolic::Product p{32, 56 * 56, 4, 36};
    const systolic::ArrayGroup array{128, 128, 1, false};
    const double fill = 128 + 128 + 128 - 2;
    CHECK(systolic::count_packed_groups(w, p, array).cycles ==
          9 * 56 * 56 + fill); // all 32 groups in one tile
    CHECK(systolic::count_tiles(p, array).cycles == 32 * 56 * 56 + 36 + 36 + 4 - 2);
}

namespace {

Rig tpu() {
    Rig rig(Family("tpu"), 2, 2 * 128 * 128, Precision::bf16);
    state_arrays(*rig.device, 2, 1, 128, 128, 128);
    Engine vpu;
    vpu.kind = EngineClass::vector;
    vpu.count = 2;
    vpu.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(256);
    rig.device->engines.push_back(vpu);
    return rig.buffer(16e6);
}

} // namespace

TEST_CASE("cores split the batch, not one image", "[systolic]") {
    const auto mapper = mapper_of("tpu");
    Network one(Precision::bf16, 1), two(Precision::bf16, 2);
    const Rig rig = tpu();
    const Mapping a = map_one(*mapper, one.product(1000, 128, 128), one, rig);
    const Mapping b = map_one(*mapper, two.product(2000, 128, 128), two, rig);
    CHECK(demand(a, Resource::matrix_cycles, Lane::compute) ==
          demand(b, Resource::matrix_cycles, Lane::compute));
    // Each core loads its own weights.
    CHECK(demand(b, Resource::weight_bytes, Lane::memory) ==
          2 * demand(a, Resource::weight_bytes, Lane::memory));
    CHECK(a.allocation.units_used == 1);
    CHECK(b.allocation.units_used == 2);
}

TEST_CASE("activations spill when they outgrow the on-chip memory", "[systolic]") {
    const auto mapper = mapper_of("tpu");
    Rig rig = tpu();
    rig.set(Parameter::input_refetch, 0);
    Network small(Precision::bf16), large(Precision::bf16);
    const Mapping s = map_one(*mapper, small.convolution(128, 128, 56, 1), small, rig);
    const Mapping l = map_one(*mapper, large.convolution(128, 128, 1024, 1), large, rig);
    CHECK(demand(s, Resource::dram_bytes, Lane::memory) == 0);
    CHECK(demand(l, Resource::dram_bytes, Lane::memory) == 128 * 1024 * 1024 * 2.0); // the output only
}

TEST_CASE("depthwise convolution runs on the vector unit when that is faster", "[systolic]") {
    const auto mapper = mapper_of("tpu");
    Network network(Precision::bf16);
    const Mapping m = map_one(*mapper, network.convolution(128, 128, 56, 3, 128), network, tpu());
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == 0);
    // 2 operations per multiply-accumulate on the 256 operations per clock of one core.
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == Approx(2 * 128 * 56 * 56 * 9 / 256.0));
}

TEST_CASE("weights beyond the on-chip memory of a chip without DRAM come over the host link", "[systolic]") {
    const auto mapper = mapper_of("tpu");
    Rig rig(Family("tpu"), 1, 8192);
    state_arrays(*rig.device, 1, 1, 64, 64, 64);
    rig.device->dram.reset();
    rig.device->host_link_bandwidth = fact(5e8);
    rig.buffer(8e6).set(Parameter::weight_residency, 1);
    Network fits, spills, again;
    CHECK(demand(map_one(*mapper, fits.product(1, 1000, 1000), fits, rig), Resource::host_link_bytes,
                 Lane::memory) == 0);
    const Mapping m = map_one(*mapper, spills.product(1, 4000, 4000), spills, rig);
    CHECK(demand(m, Resource::host_link_bytes, Lane::memory) == Approx(16e6 - (8e6 - 8000)));
    // Transfers that reach four fifths of the link are as many bytes and take as long as five fourths of
    // them.
    rig.set(Parameter::host_link_efficiency, 0.8);
    const Mapping slower = map_one(*mapper, again.product(1, 4000, 4000), again, rig);
    CHECK(demand(slower, Resource::host_link_bytes, Lane::memory) ==
          Approx(1.25 * demand(m, Resource::host_link_bytes, Lane::memory)));
    CHECK(slower.events[Event::host_link_byte] == m.events[Event::host_link_byte]);
}
