// Counts of products and convolutions by the GPU mapper, each derived by hand from docs/mappers/gpu.md, on
// the machine of gpu_ten_units.hpp.

#include "family/gpu_ten_units.hpp"
#include "family/gpu_view.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

TEST_CASE("GPU: events of a product on either engine", "[formulas][gpu]") {
    gpu::MultiplyEngine matrix, lanes;
    matrix.matrix = true;
    TileChoice tile;
    tile.tile_m = 64;
    tile.tile_k = 32;
    tile.padded_macs = 1.5e6;
    const auto events = [&](Precision p, const gpu::MultiplyEngine& engine, const TileChoice& t) {
        EventCounts e;
        gpu::count_product(1e6, p, engine, t, bytes_of(p), e);
        return e;
    };
    const double barriers = 1.5e6 / (64 * 32 * 32); // per warp tile and step
    check_events(events(Precision::fp16, matrix, tile), {{Precision::fp16, 1e6}},
                 {{Event::instruction, 1.5e6 / kPerInstruction},
                  {Event::register_byte, 1.5e6 / kPerInstruction * kRegisters},
                  {Event::l1_byte, 1.5e6 * 2 * kShared},
                  {Event::scheduling, barriers}});
    // Half the width, twice the reduction of an instruction.
    check_events(events(Precision::int8, matrix, tile), {{Precision::int8, 1e6}},
                 {{Event::instruction, 1.5e6 / 2 / kPerInstruction},
                  {Event::register_byte, 1.5e6 / 2 / kPerInstruction * kRegisters},
                  {Event::l1_byte, 1.5e6 * kShared},
                  {Event::scheduling, barriers}});
    // 32 lanes: one fp32, two fp16, four 8-bit multiply-accumulates each; four registers of four bytes.
    for (const auto& [precision, per_lane] :
         {std::pair{Precision::fp32, 1.0}, {Precision::fp16, 2.0}, {Precision::int8, 4.0}})
        check_events(events(precision, lanes, tile), {{precision, 1e6}},
                     {{Event::instruction, 1.5e6 / 32 / per_lane},
                      {Event::register_byte, 1.5e6 / per_lane * 16},
                      {Event::l1_byte, 1.5e6 * bytes_of(precision) * kShared},
                      {Event::scheduling, barriers}});
    // Without a tile nothing is padded and no warps meet.
    check_events(
        events(Precision::fp32, lanes, {}), {{Precision::fp32, 1e6}},
        {{Event::instruction, 1e6 / 32}, {Event::register_byte, 16e6}, {Event::l1_byte, 4e6 * kShared}});
}

TEST_CASE("GPU: events of vector work", "[formulas][gpu]") {
    EventCounts e;
    gpu::count_vector(320, 64, 5120, e);
    check_events(e, {},
                 {{Event::vector_op, 320},
                  {Event::special_op, 64},
                  {Event::instruction, 384 / 32 + 5120 / 512}, // 16 bytes per lane and load
                  {Event::register_byte, 384 * 12},            // two operands and a result
                  {Event::l1_byte, 5120},
                  {Event::scheduling, 10}});
}

TEST_CASE("GPU: tiles, waves and L2 bytes of grouped and split products", "[formulas][gpu][tiles]") {
    GemmEngine engine;
    engine.units = 10;
    engine.ops_per_cycle = 1024;
    engine.efficiency = 0.5;
    // K = 70 is three steps of 32. Tile 64 x 64: 3 groups x 2 x 1 blocks in one wave of 2 x 64 x 64 x 96 /
    // 1024; no other tile takes less.
    const TileChoice grouped = choose_tile({3, 100, 40, 70}, engine);
    CHECK(grouped.cycles == 768);
    CHECK(grouped.tile_m == 64);
    CHECK(grouped.tile_n == 64);
    CHECK(grouped.waves == Approx(0.6));
    CHECK(grouped.units_used == 6);
    CHECK(grouped.padded_macs == 6 * 64 * 64 * 96);
    CHECK(grouped.l2_bytes == 6 * (64 + 64) * 96 * 2 + 3 * 100 * 40 * 2);
    engine.operand_reuse = 0.5;
    CHECK(choose_tile({3, 100, 40, 70}, engine).l2_bytes == 6 * (128 + 64) * 96 * 2 + 3 * 100 * 40 * 2);
    // The two blocks above each other load the same columns together, however many could.
    engine.operand_reuse = 1;
    for (const double paired : {2.0, 4.0}) {
        engine.paired_units = paired;
        CHECK(choose_tile({3, 100, 40, 70}, engine).l2_bytes == 6 * (64 + 32) * 96 * 2 + 3 * 100 * 40 * 2);
    }
    engine.paired_units = 1;
    // 64 x 64 x 65536 on 100 units, parts combined in 1000 cycles: two tiles of 64 x 32 in 16 parts of 4096.
    engine.units = 100;
    engine.operand_reuse = 1;
    engine.split_cycles = 1000;
    const TileChoice split = choose_tile({1, 64, 64, 65536}, engine);
    CHECK(split.split == 16);
    CHECK(split.tile_m * split.tile_n == 64 * 32);
    CHECK(split.cycles == 2 * 64 * 32 * 4096 / 1024);
    CHECK(split.extra_cycles == 1000);
    CHECK(split.units_used == 32);
    CHECK(split.waves == Approx(0.32));
    CHECK(split.padded_macs == 64.0 * 64 * 65536);
    // Operands, results, and 16 single-precision parts of each that are written and read.
    CHECK(split.l2_bytes == 2 * (64.0 + 32) * 65536 * 2 + 64 * 64 * 2 + 64 * 64 * 16 * 2 * 4);
}

TEST_CASE("GPU: a reduction is split into at least four steps each, on a starved machine only",
          "[formulas][gpu][tiles]") {
    GemmEngine engine;
    engine.units = 100;
    engine.ops_per_cycle = 1024;
    engine.split_cycles = 0;
    CHECK(choose_tile({1, 64, 64, 32 * 15}, engine).split == 2); // 7.5 steps; four parts would have 3.75
    CHECK(choose_tile({1, 64, 64, 32 * 16}, engine).split == 4); // four steps
    CHECK(choose_tile({1, 64, 64, 32 * 7}, engine).split == 1);  // 3.5 steps
    // Twelve tiles on ten units are two waves; 24 halves would be three waves of half the time, but the
    // machine is not starved.
    engine.units = 10;
    CHECK(choose_tile({12, 64, 32, 2048}, engine).split == 1);
    engine.units = 1; // two tiles are two waves already
    CHECK(choose_tile({1, 64, 64, 65536}, engine).split == 1);
}

TEST_CASE("GPU: a product, its traffic and its events", "[formulas][gpu]") {
    // 100 x 40 x 70: four tiles of 64 x 32 on ten units, one wave of 2 x 64 x 32 x 96 / 1024.
    Machine m = with_cache(ten_units(), 20000);
    set(m, Parameter::resident_fraction, 0.8); // 16000 bytes of L2
    set(m, Parameter::unit_load_bytes_per_clock, 20);
    auto one = matmul(100, 40, 70, Precision::fp16);
    const Mapping out = counted(*one, m);
    const double l2 = 4 * (64 + 32) * 96 * 2 + 4000 * 2, padded = 4 * 64 * 32 * 96;
    // 22000 bytes of activations, of which 16000 stay; four units draw 80 of 1000 bytes per cycle.
    check_demands(out, {{Resource::matrix_cycles, Lane::compute, 384, 0.8},
                        {Resource::dram_bytes, Lane::memory, 6000, 0.08},
                        {Resource::weight_bytes, Lane::memory, 5600, 0.08},
                        {Resource::l2_bytes, Lane::on_chip, l2},
                        {Resource::overhead_cycles, Lane::overhead, 6000},
                        {Resource::seconds, Lane::overhead, 1e-6}});
    check_events(out.events, {{Precision::fp16, 280000}},
                 {{Event::instruction, padded / 2048 + 8000 / 512.0},
                  {Event::register_byte, padded / 2048 * kRegisters},
                  {Event::l1_byte, padded * 2 * kShared + 8000},
                  {Event::scheduling, padded / (64 * 32 * 32) + 8000 / 512.0},
                  {Event::l2_byte, l2},
                  {Event::dram_byte, 11600},
                  {Event::coherence, l2 / 128}});
    check_allocation(out, 4, 10, 0.4, 280000 / padded);
    CHECK(out.ideal_cycles == Approx(2 * 280000 / 10240.0));
    CHECK(out.workspace_bytes == 0);

    // 5600 bytes of weights and 22000 fit 28000 bytes of L2; a cache of keys and values never stays.
    m = with_cache(m, 28000);
    one->work().kv_bytes = 2500;
    const Mapping resident = counted(*one, m);
    CHECK(demand_on(resident, Resource::dram_bytes)->amount == 2500);
    CHECK_FALSE(demand_on(resident, Resource::weight_bytes));
    CHECK(resident.events[Event::dram_byte] == 2500);

    // Partitions that keep a copy each hold half as much, as does one byte too little of all.
    CHECK(demand_on(counted(*one, with_cache(m, 27600)), Resource::weight_bytes)->amount == 5600);
    auto halves = std::make_shared<Device>(*m.device);
    own(*halves, "cache_copies") = fact(2);
    m.device = halves;
    CHECK(demand_on(counted(*one, m), Resource::weight_bytes)->amount == 5600);
    CHECK_FALSE(demand_on(counted(*one, with_cache(m, 56000)), Resource::weight_bytes));
}

TEST_CASE("GPU: packed weights are expanded for many rows, read by every micro-batch", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::weight_only_relative_efficiency, 0.5);
    set(m, Parameter::dequantization_rows, 50);
    set(m, Parameter::microbatch_rows, 30);
    set(m, Parameter::weight_traffic, 2);
    const auto run = [&](double rows) {
        auto one = matmul(rows, 40, 70, Precision::fp16);
        one->network.precision.weights = Precision::int4;
        one->network.precision.weight_bits_overhead = 0.5;
        one->work().weight_bytes = 2800 * 4.5 / 8;
        return counted(*one, m);
    };
    const Mapping many = run(100);
    CHECK(demand_on(many, Resource::matrix_cycles)->efficiency == Approx(0.4));
    // Stored bytes twice, the 5600 expanded bytes written and read, in each of ceil(100 / 30) passes.
    CHECK(demand_on(many, Resource::weight_bytes)->amount == Approx((1575 * 2 + 2 * 5600) * 4));
    CHECK(many.workspace_bytes == 5600);
    const Mapping few = run(40);
    CHECK(demand_on(few, Resource::weight_bytes)->amount == Approx(1575 * 2 * 2));
    CHECK(few.workspace_bytes == 0);
    CHECK(run(50).workspace_bytes == 5600);
}

TEST_CASE("GPU: every row of tiles converts packed weights, by instructions of single warps",
          "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::weight_conversion_operations, 1.6);
    set(m, Parameter::warp_product_relative_rate, 0.5);
    const auto run = [&](double rows, Precision weights) {
        auto one = matmul(rows, 64, 96, Precision::fp16);
        one->network.precision.weights = weights;
        return counted(*one, m);
    };
    const Mapping packed = run(1000, Precision::int4), plain = run(1000, Precision::fp16);
    const double rows_of_tiles = std::ceil(1000.0 / packed.allocation.tile_m);
    // 6144 weights, 1.6 operations each, of which the device counts 1280 a cycle where each is two.
    CHECK(demand_on(packed, Resource::vector_cycles)->amount ==
          Approx(rows_of_tiles * 6144 * 1.6 * 2 / 1280));
    CHECK_FALSE(demand_on(plain, Resource::vector_cycles));
    // Each is one operation of a lane, and a 32nd of an instruction.
    const auto more = [&](Event event) { return packed.events[event] - plain.events[event]; };
    CHECK(more(Event::vector_op) == Approx(rows_of_tiles * 6144 * 1.6));
    CHECK(more(Event::instruction) == Approx(rows_of_tiles * 6144 * 1.6 / 32));
    CHECK(demand_on(packed, Resource::matrix_cycles)->efficiency == Approx(0.4));
    CHECK(demand_on(plain, Resource::matrix_cycles)->efficiency == Approx(0.8));
    // 8-bit integers are multiplied by single warps too, without a conversion.
    auto integers = matmul(1000, 64, 96, Precision::int8);
    const Mapping eight = counted(*integers, m);
    CHECK(demand_on(eight, Resource::matrix_cycles)->efficiency == Approx(0.4));
    CHECK_FALSE(demand_on(eight, Resource::vector_cycles));
}

TEST_CASE("GPU: experts in 4 bits are as wide as their kernels want them", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::packed_expert_inner_step, 64);
    set(m, Parameter::packed_expert_outer_step, 96);
    const auto run = [&](Precision weights) {
        OperatorWork experts = product_work(10, 40, 70); // 70 in, 40 inside, and back
        experts.contractions.push_back({1, 10, 70, 40, true});
        experts.macs *= 2;
        auto one = one_operator(experts, Precision::fp16, {700, 5600, 700});
        one->network.precision.weights = weights;
        return counted(*one, m);
    };
    const auto macs = [](const Mapping& out) {
        return out.events.macs[static_cast<std::size_t>(Precision::fp16)];
    };
    const Mapping packed = run(Precision::fp4), plain = run(Precision::fp16);
    CHECK(macs(plain) == 2 * 10 * 40 * 70);
    CHECK(macs(packed) == 2 * 10 * 64 * 96);
    CHECK(demand_on(packed, Resource::weight_bytes)->amount ==
          Approx(demand_on(plain, Resource::weight_bytes)->amount * 64 * 96 / (40 * 70)));
}

TEST_CASE("GPU: activations of many rows are quantised to meet integer weights", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::weight_only_relative_efficiency, 0.5);
    set(m, Parameter::dynamic_quantization_rows, 50);
    const auto run = [&](double rows, Precision weights) {
        auto one = matmul(rows, 40, 70, Precision::fp16);
        one->network.precision.weights = weights;
        return counted(*one, m);
    };
    const auto macs = [](const Mapping& out, Precision p) {
        return out.events.macs[static_cast<std::size_t>(p)];
    };
    const Mapping many = run(100, Precision::int4), few = run(40, Precision::int4);
    CHECK(macs(many, Precision::int8) == 280000);
    CHECK(macs(many, Precision::fp16) == 0);
    CHECK(demand_on(many, Resource::matrix_cycles)->efficiency == Approx(0.8));
    CHECK(many.ideal_cycles == Approx(2 * 280000 / 20480.0));
    CHECK(macs(few, Precision::fp16) == 40 * 40 * 70);
    CHECK(demand_on(few, Resource::matrix_cycles)->efficiency == Approx(0.4));
    // A kernel of its own reads 100 x 70 activations of two bytes and writes one each, with three operations.
    CHECK(many.events[Event::vector_op] - run(100, Precision::fp16).events[Event::vector_op] ==
          Approx(3 * 7000));
    CHECK(many.events[Event::dram_byte] - run(100, Precision::fp16).events[Event::dram_byte] ==
          Approx(3 * 7000));
    // Floating-point weights stay as they are.
    CHECK(macs(run(100, Precision::fp8), Precision::fp16) == 280000);
}

TEST_CASE("GPU: parts of a split product are a workspace", "[formulas][gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::kernel_floor_cycles, 1000);
    set_rate(m, Resource::l2_bytes, 0); // else fewer parts may save traffic
    auto one = matmul(64, 64, 65536, Precision::fp32);
    one->op.native_precision = Precision::fp32; // beside narrower products: a library's, which splits
    CHECK(counted(*one, m).workspace_bytes == 64 * 64 * 16 * 4);
}

TEST_CASE("GPU: input channels are padded to whole vector loads", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::alignment_bytes, 16);
    set(m, Parameter::convolution_reuse, 0.5);
    // 10 -> 16 channels of 9 taps are 144, five steps of 32. One tile of 64 x 32.
    auto ten = convolution(1, 10, 24, 8, 3, 1, Precision::fp16);
    const Mapping padded = counted(*ten, m);
    CHECK(demand_on(padded, Resource::matrix_cycles)->amount == 2 * 64 * 32 * 160 / 1024.0);
    CHECK(demand_on(padded, Resource::l2_bytes)->amount == (64 / 0.5 + 32) * 160 * 2 + 64 * 24 * 2);
    CHECK(padded.allocation.useful_fraction == Approx(64 * 24 * 90 / (64 * 32 * 160.0)));
    // Three channels become four: 36, two steps; a load of two elements leaves them at three.
    auto three = convolution(1, 3, 24, 8, 3, 1, Precision::fp16);
    CHECK(demand_on(counted(*three, m), Resource::matrix_cycles)->amount == 2 * 64 * 32 * 64 / 1024.0);
    set(m, Parameter::alignment_bytes, 4);
    CHECK(demand_on(counted(*three, m), Resource::matrix_cycles)->amount == 2 * 64 * 32 * 32 / 1024.0);
}

TEST_CASE("GPU: groups of 8 channels merge into blocks of 32", "[formulas][gpu]") {
    // 32 groups of 8 are 8 of N = 32, K = 72 x 4 = 288: eight tiles of 64 x 32 in one wave.
    auto one = convolution(1, 256, 256, 8, 3, 32, Precision::fp16);
    const Mapping out = counted(*one, ten_units());
    CHECK(demand_on(out, Resource::matrix_cycles)->amount == 2 * 64 * 32 * 288 / 1024.0);
    CHECK(out.allocation.useful_fraction == Approx(0.25));
    // Two groups of 8 are one of N = 16, K = 144 -> 160.
    auto two = convolution(1, 16, 16, 8, 3, 2, Precision::fp16);
    CHECK(demand_on(counted(*two, ten_units()), Resource::matrix_cycles)->amount ==
          2 * 64 * 32 * 160 / 1024.0);
}

TEST_CASE("GPU: three products of one tensor share a kernel", "[formulas][gpu]") {
    // N = 32 each, 96 together: three tiles of 64 x 32 in one wave, a third of it for each product.
    Machine m = ten_units();
    set(m, Parameter::merge_products, 1);
    auto one = matmul(64, 32, 70, Precision::fp16);
    for (std::uint32_t i = 1; i < 3; ++i) {
        one->network.subgraphs.push_back(one->network.subgraphs.front());
        one->network.subgraphs.back().index = i;
        one->partition.subgraphs.push_back(one->partition.subgraphs.front());
    }
    one->partition.next_reader = {1, 2, 0};
    const Mapping out = counted(*one, m);
    const double padded = 64 * 32 * 96, macs = 64 * 32 * 70;
    CHECK(demand_on(out, Resource::matrix_cycles)->amount == Approx(384 / 3.0));
    CHECK(demand_on(out, Resource::l2_bytes)->amount == Approx((3 * 96 * 96 * 2 + 64 * 96 * 2) / 3.0));
    CHECK(demand_on(out, Resource::overhead_cycles)->amount == Approx(6000 / 3.0));
    CHECK(demand_on(out, Resource::seconds)->amount == Approx(1e-6 / 3));
    CHECK(out.events.macs[static_cast<std::size_t>(Precision::fp16)] == Approx(macs));
    CHECK(out.events[Event::instruction] == Approx(padded / 2048 + 64 * 32 * 2 / 512.0));
    CHECK(out.allocation.useful_fraction == Approx(macs / padded));
    CHECK(out.ideal_cycles == Approx(2 * macs / 10240));
}

TEST_CASE("GPU: one row is a dot product per output", "[formulas][gpu]") {
    auto one = matmul(1, 40, 70, Precision::fp16);
    const Mapping out = counted(*one, ten_units());
    CHECK(demand_on(out, Resource::vector_cycles)->amount == Approx(2 * 2800 / 1280.0));
    CHECK(demand_on(out, Resource::vector_cycles)->efficiency == Approx(0.5));
    CHECK(out.events[Event::instruction] == Approx(2800 / 64.0 + 80 / 512.0));
    check_allocation(out, 10, 10, 1, 1);
    CHECK(out.ideal_cycles == Approx(2 * 2800 / 1280.0));
    // Dot-product instructions of a format speed it up.
    Machine m = ten_units();
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 5120;
    auto narrow = matmul(1, 40, 70, Precision::int8);
    CHECK(demand_on(counted(*narrow, m), Resource::vector_cycles)->amount == Approx(2 * 2800 / 5120.0));
    // Eight rows still are, nine are not.
    auto eight = matmul(8, 40, 70, Precision::fp16), nine = matmul(9, 40, 70, Precision::fp16);
    CHECK(demand_on(counted(*eight, m), Resource::vector_cycles));
    CHECK(demand_on(counted(*nine, m), Resource::matrix_cycles));
}

TEST_CASE("GPU: Winograd transforms tiles of 2 x 2 results", "[formulas][gpu]") {
    // Two images of 9 x 9 are 50 tiles, 16 products of 50 x 24 x 16: 16 blocks of 64 x 32 on ten units, two
    // waves of 2 x 64 x 32 x 16 / 128. Each tile takes 32 additions per input and 24 per output channel.
    Machine m = ten_units();
    set(m, Parameter::winograd_efficiency, 0.25);
    set(m, Parameter::vector_convolution_efficiency, 0.4);
    auto one = convolution(2, 16, 24, 9, 3, 1, Precision::fp32);
    const Mapping out = counted(*one, m);
    REQUIRE(std::string(out.allocation.scheme) == "Winograd F(2x2, 3x3)");
    const double transforms = 50 * (16 * 32 + 24 * 24), macs = 16 * 50 * 24 * 16, padded = 16 * 64 * 32 * 16;
    const double input = 2 * 81 * 16 * 4, output = 2 * 81 * 24 * 4, weights = 24 * 144 * 4;
    const double l2 = 16 * (64 + 32) * 16 * 4 + 16 * 50 * 24 * 4;
    check_demands(out, {{Resource::vector_cycles, Lane::compute, 2 * 512, 0.25},
                        {Resource::vector_cycles, Lane::compute, transforms / 1280},
                        {Resource::dram_bytes, Lane::memory, input + output},
                        {Resource::weight_bytes, Lane::memory, weights},
                        {Resource::l2_bytes, Lane::on_chip, l2},
                        {Resource::overhead_cycles, Lane::overhead, 6000},
                        {Resource::seconds, Lane::overhead, 1e-6}});
    check_events(out.events, {{Precision::fp32, macs}},
                 {{Event::vector_op, transforms},
                  {Event::instruction, padded / 32 + transforms / 32 + output / 512},
                  {Event::register_byte, padded * 16 + transforms * 12},
                  {Event::l1_byte, padded * 4 * kShared + output},
                  {Event::scheduling, padded / (64 * 32 * 16) + output / 512},
                  {Event::l2_byte, l2},
                  {Event::dram_byte, input + output + weights},
                  {Event::coherence, l2 / 128}});
    CHECK(out.allocation.useful_fraction == Approx(macs / padded));
    CHECK(out.ideal_cycles == Approx(2 * macs / 1280));
}
