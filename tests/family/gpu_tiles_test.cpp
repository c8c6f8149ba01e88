#include "family/gemm_tiles.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

/// 100 multiprocessors of 1024 operations per cycle, 16-bit operands, nothing else limiting.
GemmEngine plain_engine() {
    GemmEngine engine;
    engine.units = 100;
    engine.ops_per_cycle = 1024;
    return engine;
}

double duration(const GemmShape& shape, const GemmEngine& engine) {
    const TileChoice c = choose_tile(shape, engine);
    const double l2 = engine.l2_bytes_per_cycle > 0 ? c.l2_bytes / engine.l2_bytes_per_cycle : 0;
    return std::max(c.cycles / engine.efficiency, l2) + c.extra_cycles;
}

} // namespace

TEST_CASE("waves: one at least, whole in lock step, blocks per unit when streams overlap", "[gpu][tiles]") {
    CHECK(wave_count(30, 100, 1, false) == 1);
    CHECK(wave_count(250, 100, 1, false) == 3);
    CHECK(wave_count(250, 100, 0, false) == 2.5);
    CHECK(wave_count(250, 100, 0.5, false) == 2.75);
    CHECK(wave_count(30, 100, 1, true) == 0.3);
}

TEST_CASE("a square product takes the tile with the smallest tail", "[gpu][tiles]") {
    // 4096^3 in 64 x 64 tiles: 4096 blocks on 100 units are 41 whole waves of 64 * 64 * 4096 * 2 / 1024
    // cycles; 128 x 128 would need 11 waves of four times that.
    const TileChoice c = choose_tile({1, 4096, 4096, 4096}, plain_engine());
    CHECK(c.tile_m == 64);
    CHECK(c.tile_n == 64);
    CHECK(c.tile_k == 32);
    CHECK(c.split == 1);
    CHECK(c.cycles == Approx(41 * 32768.0));
    CHECK(c.waves == Approx(40.96));
    CHECK(c.units_used == 100);
    CHECK(c.padded_macs == Approx(4096.0 * 4096 * 4096));
    // Operands once per block of the other side, and the result.
    CHECK(c.l2_bytes == Approx(4096.0 * 128 * 4096 * 2 + 4096.0 * 4096 * 2));
}

TEST_CASE("tiles of 16 rows are offered to kernels that have them, no lower ones to those that have not",
          "[gpu][tiles]") {
    GemmEngine engine = plain_engine();
    const GemmShape row{1, 1, 12800, 4096};
    CHECK(choose_tile(row, engine).tile_m == 32);
    engine.smallest_m = 16;
    CHECK(choose_tile(row, engine).tile_m == 16);
    engine.smallest_m = 64;
    CHECK(choose_tile(row, engine).tile_m == 64);
}

TEST_CASE("a slow L2 asks for large tiles", "[gpu][tiles]") {
    GemmEngine engine = plain_engine();
    engine.l2_bytes_per_cycle = 1000;
    const TileChoice c = choose_tile({1, 4096, 4096, 4096}, engine);
    CHECK(c.tile_m * c.tile_n == 256 * 128);
}

TEST_CASE("a starved machine splits the reduction when the stack can", "[gpu][tiles]") {
    GemmEngine engine = plain_engine();
    const GemmShape narrow{1, 64, 64, 65536};
    const TileChoice whole = choose_tile(narrow, engine);
    CHECK(whole.split == 1);
    CHECK(whole.units_used < 5);
    engine.split_cycles = 1000;
    const TileChoice split = choose_tile(narrow, engine);
    CHECK(split.split > 1);
    CHECK(split.cycles + split.extra_cycles < whole.cycles / 4);
    CHECK(split.extra_cycles == 1000);
}

TEST_CASE("time of a product grows with its sizes and falls with the machine", "[gpu][tiles]") {
    GemmEngine engine = plain_engine();
    engine.l2_bytes_per_cycle = 2000;
    engine.split_cycles = 2000;
    engine.wave_rounding = GENERATE(0.0, 0.4, 1.0);
    engine.operand_bytes = GENERATE(1.0, 2.0, 4.0);
    for (double k : {64.0, 576.0, 4608.0})
        for (double n : {24.0, 96.0, 1000.0})
            for (double m : {1.0, 17.0, 49.0, 196.0, 3136.0, 50176.0}) {
                const double base = duration({1, m, n, k}, engine);
                CHECK(duration({1, 2 * m, n, k}, engine) >= base * (1 - 1e-12));
                CHECK(duration({1, m, 2 * n, k}, engine) >= base * (1 - 1e-12));
                CHECK(duration({1, m, n, 2 * k}, engine) >= base * (1 - 1e-12));
                GemmEngine faster = engine;
                faster.ops_per_cycle *= 2;
                CHECK(duration({1, m, n, k}, faster) <= base * (1 + 1e-12));
                // Never below the bound of the arithmetic.
                CHECK(base >= 2 * m * n * k / (engine.ops_per_cycle * engine.units) * (1 - 1e-12));
            }
}
