#include "map/gpu_machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace archsim;
using namespace archsim::test;

namespace {

double work_seconds(const Mapping& mapping, const Machine& machine) {
    return std::max({lane_seconds(mapping, machine, Lane::compute),
                     lane_seconds(mapping, machine, Lane::on_chip),
                     lane_seconds(mapping, machine, Lane::memory)});
}

} // namespace

TEST_CASE("a product counts tiles, operand traffic and compulsory bytes", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::matrix_efficiency, 0.8);
    auto one = matmul(4096, 4096, 4096, Precision::fp16);
    const Mapping out = counted(*one, m);
    const Demand* cycles = demand_on(out, Resource::matrix_cycles);
    REQUIRE(cycles);
    CHECK(cycles->efficiency == Approx(0.8));
    CHECK(cycles->amount >= 2.0 * 4096 * 4096 * 4096 / (1024 * 100));
    CHECK(out.ideal_cycles == Approx(2.0 * 4096 * 4096 * 4096 / (1024 * 100)));
    CHECK(demand_on(out, Resource::dram_bytes)->amount == Approx(2 * 4096.0 * 4096 * 2));
    CHECK(demand_on(out, Resource::weight_bytes)->amount == Approx(4096.0 * 4096 * 2));
    CHECK(out.events.macs[static_cast<std::size_t>(Precision::fp16)] == Approx(4096.0 * 4096 * 4096));
    CHECK(out.events[Event::dram_byte] == Approx(3 * 4096.0 * 4096 * 2));
    CHECK(out.allocation.units_used == 100);
}

TEST_CASE("without a matrix engine of the format the vector lanes multiply", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::vector_matrix_efficiency, 0.7);
    auto one = matmul(1024, 1024, 1024, Precision::fp32);
    const Mapping out = counted(*one, m);
    CHECK_FALSE(demand_on(out, Resource::matrix_cycles));
    CHECK(demand_on(out, Resource::vector_cycles)->efficiency == Approx(0.7));
}

TEST_CASE("8-bit products without a matrix engine use dot-product instructions", "[gpu]") {
    Machine m = gpu_machine();
    m.matrix_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 0;
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 512 * 100;
    set(m, Parameter::integer_vector_efficiency, 0.6);
    auto one = matmul(1024, 1024, 1024, Precision::int8);
    const Mapping out = counted(*one, m);
    CHECK(demand_on(out, Resource::vector_cycles)->reason == Parameter::integer_vector_efficiency);
}

TEST_CASE("few rows stream the weights", "[gpu]") {
    Machine m = gpu_machine();
    auto one = matmul(1, 4096, 4096, Precision::fp16);
    const Mapping out = counted(*one, m);
    CHECK(std::string(out.allocation.scheme) == "row kernel");
    CHECK(lane_seconds(out, m, Lane::memory) > lane_seconds(out, m, Lane::compute));
}

TEST_CASE("fewer rows than the smallest tile of the matrix engine take the time of a whole one", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::product_block_rows, 64);
    const auto seconds = [&](double rows) {
        auto one = matmul(rows, 4096, 4096, Precision::fp16);
        return lane_seconds(counted(*one, m), m, Lane::compute);
    };
    CHECK(seconds(1) == Approx(seconds(64)));
    CHECK(seconds(1) >= 2.0 * 64 * 4096 * 4096 / (1024 * 100) * 1e-9);
    set(m, Parameter::product_block_rows, std::nan(""));
    CHECK(seconds(1) < seconds(64) / 2);
}

TEST_CASE("Winograd halves the multiplications of a float 3x3 convolution where the stack has it", "[gpu]") {
    Machine m = gpu_machine();
    auto one = convolution(8, 128, 128, 56, 3, 1, Precision::fp32);
    const double direct = lane_seconds(counted(*one, m), m, Lane::compute);
    set(m, Parameter::winograd_efficiency, 1);
    const Mapping fast = counted(*one, m);
    CHECK(std::string(fast.allocation.scheme) == "Winograd F(2x2, 3x3)");
    CHECK(lane_seconds(fast, m, Lane::compute) < direct * 0.6);
    // 36 multiply-accumulates of four outputs become 16.
    CHECK(fast.events.macs[static_cast<std::size_t>(Precision::fp32)] ==
          Approx(one->op.work.macs * 16 / 36).epsilon(0.01));
    auto half = convolution(8, 128, 128, 56, 3, 1, Precision::fp16);
    CHECK(std::string(counted(*half, m).allocation.scheme) == "implicit GEMM");
}

TEST_CASE("depthwise convolution runs on vector lanes, faster by a factor per halving of the width",
          "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::depthwise_efficiency, 0.2);
    set(m, Parameter::narrow_depthwise_gain, 1.5);
    auto half = convolution(1, 256, 256, 28, 3, 256, Precision::fp16);
    auto full = convolution(1, 256, 256, 28, 3, 256, Precision::fp32);
    auto narrow = convolution(1, 256, 256, 28, 3, 256, Precision::int8);
    const double cycles = 2.0 * 256 * 28 * 28 * 9 / (128 * 100) / 0.2;
    CHECK(lane_seconds(counted(*full, m), m, Lane::compute) == Approx(cycles / 1e9));
    CHECK(lane_seconds(counted(*half, m), m, Lane::compute) == Approx(cycles / 1.5e9));
    CHECK(lane_seconds(counted(*narrow, m), m, Lane::compute) == Approx(cycles / 2.25e9));
}

TEST_CASE("narrower formats are never slower on the same engine", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::alignment_bytes, 16);
    for (double channels : {3.0, 8.0, 20.0, 33.0, 64.0, 130.0, 1000.0})
        for (double side : {7.0, 28.0, 112.0}) {
            auto half = convolution(1, channels, channels, side, 3, 1, Precision::fp16);
            auto narrow = convolution(1, channels, channels, side, 3, 1, Precision::int8);
            CHECK(work_seconds(counted(*narrow, m), m) <= work_seconds(counted(*half, m), m) * (1 + 1e-9));
        }
}

TEST_CASE("twice the batch never takes less time", "[gpu]") {
    Machine m = gpu_machine(80);
    set(m, Parameter::resident_fraction, 0.3);
    set(m, Parameter::winograd_efficiency, 0.8);
    set(m, Parameter::grouped_efficiency, 0.4);
    for (Precision p : {Precision::fp32, Precision::fp16, Precision::int8})
        for (double groups : {1.0, 4.0, 32.0, 64.0})
            for (double side : {7.0, 14.0, 56.0}) {
                double before = 0;
                for (double batch = 1; batch <= 64; batch *= 2) {
                    auto one = convolution(batch, 64, 64, side, 3, groups, p);
                    const double time = work_seconds(counted(*one, m), m);
                    CHECK(time >= before * (1 - 1e-9));
                    before = time;
                }
            }
}

TEST_CASE("a small result that stays in L2 does not reach DRAM", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::resident_fraction, 0.5);
    OperatorWork work;
    work.vector_ops = 1e5;
    auto one = one_operator(OpKind::elementwise, Precision::fp16, work, 1e5, 1e5, 0);
    const Mapping out = counted(*one, m);
    CHECK_FALSE(demand_on(out, Resource::dram_bytes));
    CHECK(demand_on(out, Resource::l2_bytes)->amount == Approx(4e5));
}

TEST_CASE("few multiprocessors cannot draw the whole bandwidth", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::unit_load_bytes_per_clock, 20);
    auto one = matmul(64, 64, 65536, Precision::fp16); // one or two blocks
    const Mapping out = counted(*one, m);
    const Demand* weights = demand_on(out, Resource::weight_bytes);
    CHECK(weights->efficiency == Approx(20 * out.allocation.units_used / 1000));
}

TEST_CASE("products of one tensor share a kernel where the stack merges them", "[gpu]") {
    Machine m = gpu_machine();
    set(m, Parameter::kernel_floor_cycles, 6000);
    auto one = matmul(384, 1024, 1024, Precision::fp16);
    // A second and third product of the same input beside it.
    for (std::uint32_t i = 1; i < 3; ++i) {
        one->network.subgraphs.push_back(one->network.subgraphs.front());
        one->network.subgraphs.back().index = i;
        one->partition.subgraphs.push_back(one->partition.subgraphs.front());
    }
    one->partition.next_reader = {1, 2, 0};
    const double alone = lane_seconds(counted(*one, m), m, Lane::overhead);
    set(m, Parameter::merge_products, 1);
    CHECK(lane_seconds(counted(*one, m), m, Lane::overhead) == Approx(alone / 3));
}

TEST_CASE("the parts of a split reduction are kept in FP32", "[gpu]") {
    Machine m = gpu_machine();
    auto one = matmul(64, 64, 65536, Precision::fp32);
    one->op.native_precision = Precision::fp32; // beside narrower products: a library's
    CHECK(counted(*one, m).workspace_bytes == 0);
    set(m, Parameter::kernel_floor_cycles, 1000);
    const Mapping out = counted(*one, m);
    CHECK(std::string(out.allocation.scheme) == "split-K GEMM");
    const double parts = out.workspace_bytes / (64 * 64 * 4);
    CHECK(parts >= 2);
    CHECK(parts == std::floor(parts));
}

TEST_CASE("fused attention keeps scores on the chip, wide formats may not have it", "[gpu]") {
    Machine m = gpu_machine();
    OperatorWork work;
    AttentionShape a;
    a.heads = a.kv_heads = 16;
    a.query_length = a.kv_length = 384;
    a.head_size = a.value_size = 64;
    work.attention = a;
    work.macs = 2.0 * 16 * 384 * 384 * 64;
    const double elements = 384 * 1024;
    auto one = one_operator(OpKind::attention, Precision::fp16, work, 3 * elements, elements, 0);
    const Mapping fused = counted(*one, m);
    CHECK(demand_on(fused, Resource::dram_bytes)->amount == Approx(4 * elements * 2));
    set(m, Parameter::fused_attention_bits, 8);
    const Mapping loose = counted(*one, m);
    CHECK(demand_on(loose, Resource::dram_bytes)->amount ==
          Approx(4 * elements * 2 + 4 * 16 * 384.0 * 384 * 2));
    CHECK(fused.workspace_bytes == 0);
    CHECK(loose.workspace_bytes == Approx(16 * 384.0 * 384 * 2));
}

TEST_CASE("groups of a width without kernels use the columns of an ordinary tile", "[gpu]") {
    // 10 groups of 24 channels at 56 x 56, 3x3: M = 3136, N = 24, K = 216 = 7 steps of 32. Tile 64 x 64: 10 x
    // 49 blocks on 100 units are 5 waves of 2 x 64 x 64 x 224 / 1024 = 1792 cycles.
    Machine m = gpu_machine();
    set(m, Parameter::grouped_efficiency, 0.5);
    auto one = convolution(1, 240, 240, 56, 3, 10, Precision::fp16);
    const Mapping out = counted(*one, m);
    CHECK(out.allocation.tile_n == 64);
    const Demand* cycles = demand_on(out, Resource::matrix_cycles);
    REQUIRE(cycles);
    CHECK(cycles->amount == Approx(5 * 1792));
    CHECK(cycles->efficiency == Approx(0.5));
    CHECK(out.allocation.useful_fraction == Approx(3136.0 * 24 * 216 / (49 * 64 * 64 * 224)));
}

TEST_CASE("groups of 8 channels lie side by side in blocks of 32", "[gpu]") {
    // 32 groups of 8 become 8 of 32 x 32 x (9 x 32): 4 times the products, in one tile instead of four.
    Machine m = gpu_machine();
    set(m, Parameter::grouped_efficiency, 0.5);
    auto one = convolution(1, 256, 256, 28, 3, 32, Precision::fp16);
    const Mapping out = counted(*one, m);
    CHECK(demand_on(out, Resource::matrix_cycles)->efficiency == Approx(1)); // a kernel is made for it
    CHECK(out.allocation.useful_fraction <= Approx(0.25));
}
