#include "family/cpu_machines.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// 16 cores at 1 GHz with 512-bit vectors (64 fp32, 256 int8 operations per cycle), 1 MB of L2 each, 20 MB
/// shared. `tiles`: a matrix unit of 1024 bf16 and 2048 int8 operations per cycle.
Machine cpu_machine(bool tiles = false, bool streams = false) {
    Machine m = machine_of({.count = 16,
                            .lanes = 16,
                            .fp32 = 64,
                            .int8 = 256,
                            .l2_bytes = 1e6,
                            .l3_bytes = 20e6,
                            .tile_bf16 = 1024,
                            .tile_int8 = 2048},
                           tiles, streams);
    set_rate(m, Resource::l2_bytes, 16 * 18e9);
    set_rate(m, Resource::llc_bytes, 16 * 3e9);
    set(m, Parameter::l2_bytes_per_clock, 18);
    set(m, Parameter::llc_bytes_per_clock, 3);
    return m;
}

} // namespace

TEST_CASE("a product spreads over all cores", "[cpu]") {
    Machine m = cpu_machine();
    set(m, Parameter::vector_matrix_efficiency, 0.8);
    auto one = matmul(1024, 1024, 512, Precision::fp32);
    const Mapping out = counted(*one, m);
    const Demand* cycles = demand_on(out, Resource::vector_cycles);
    REQUIRE(cycles);
    CHECK(cycles->amount == Approx(2.0 * 1024 * 1024 * 512 / (64 * 16)));
    CHECK(cycles->efficiency == Approx(0.8));
    CHECK(out.ideal_cycles == Approx(cycles->amount));
}

TEST_CASE("few blocks keep few cores busy", "[cpu]") {
    Machine m = cpu_machine();
    // 16 x 16 results are two blocks of 8 rows, no finer; 16 x 272 are 34 of them: three rounds on 16 cores,
    // where 17 blocks of 16 rows would take as long as four.
    auto single = matmul(16, 16, 512, Precision::fp32);
    CHECK(demand_on(counted(*single, m), Resource::vector_cycles)->amount == Approx(2.0 * 8 * 16 * 512 / 64));
    auto uneven = matmul(16, 272, 512, Precision::fp32);
    CHECK(demand_on(counted(*uneven, m), Resource::vector_cycles)->amount ==
          Approx(3 * 2.0 * 8 * 16 * 512 / 64));
}

TEST_CASE("twice the rows never take more than twice the time", "[cpu]") {
    for (const Machine& machine : {cpu_machine(), cpu_machine(true)})
        for (int rows = 1; rows <= 400; ++rows)
            for (const int columns : {16, 48, 320}) {
                const auto cycles = [&](int times) {
                    auto one = matmul(rows * times, columns, 64, Precision::bf16);
                    const Mapping out = counted(*one, machine);
                    const Demand* demand = demand_on(out, Resource::matrix_cycles);
                    return (demand ? demand : demand_on(out, Resource::vector_cycles))->amount;
                };
                INFO(rows << " x " << columns);
                CHECK(cycles(2) <= 2 * cycles(1) * (1 + 1e-12));
            }
}

TEST_CASE("8-bit dot products and tiles replace float vectors where they exist", "[cpu]") {
    auto narrow = matmul(1024, 1024, 512, Precision::int8);
    const Machine vectors = cpu_machine();
    CHECK(demand_on(counted(*narrow, vectors), Resource::vector_cycles)->reason ==
          Parameter::integer_vector_efficiency);
    const Machine tiles = cpu_machine(true);
    const Mapping out = counted(*narrow, tiles);
    CHECK(demand_on(out, Resource::matrix_cycles)->amount == Approx(2.0 * 1024 * 1024 * 512 / (2048 * 16)));
    CHECK(std::string(out.allocation.scheme) == "matrix tiles");
}

TEST_CASE("a parallel region costs a fork and a join, a single-core stream none", "[cpu]") {
    Machine m = cpu_machine();
    set(m, Parameter::sync_time, 9e-6);
    set(m, Parameter::sync_time_per_core, 0.1e-6);
    set(m, Parameter::kernel_overhead, 2e-6);
    auto one = matmul(256, 256, 256, Precision::fp32);
    CHECK(lane_seconds(counted(*one, m), m, Lane::overhead) == Approx(9e-6 + 1.6e-6 + 2e-6));
    Machine streams = cpu_machine(false, true);
    streams.parameters = m.parameters;
    CHECK(lane_seconds(counted(*one, streams), streams, Lane::overhead) == Approx(2e-6));
}

TEST_CASE("streams: one core each, as many as there are cores", "[cpu]") {
    Machine m = cpu_machine(false, true);
    auto one = matmul(1024, 1024, 512, Precision::fp32);
    CHECK(demand_on(counted(*one, m), Resource::vector_cycles)->amount ==
          Approx(2.0 * 1024 * 1024 * 512 / 64));
    CHECK(mapper_for(Family("cpu")).map_network(one->network, m).instances == 16);
    // Four efficiency cores at half the rate and half the clock add one core's worth.
    auto hybrid = std::make_shared<Device>(*m.device);
    Engine small = hybrid->engines.front();
    small.count = 4;
    small.clock = fact(0.5e9);
    small.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(32);
    hybrid->engines.push_back(small);
    m.device = hybrid;
    CHECK(mapper_for(Family("cpu")).map_network(one->network, m).instances == Approx(17));
}

TEST_CASE("shared operands are fetched by every core that needs them", "[cpu]") {
    Machine m = cpu_machine();
    auto one = matmul(1024, 1024, 1024, Precision::fp32);
    const double once = lane_seconds(counted(*one, m), m, Lane::on_chip);
    set(m, Parameter::operand_replication, 1);
    CHECK(lane_seconds(counted(*one, m), m, Lane::on_chip) > once);
}

TEST_CASE("attention products keep one core per head busy where the stack works so", "[cpu]") {
    Machine m = cpu_machine();
    OperatorWork work;
    work.contractions.push_back({12, 128, 128, 64, false});
    work.macs = work.contractions.front().macs();
    auto one = one_operator(OpKind::matmul, Precision::fp32, work, 2 * 12 * 128 * 64, 12 * 128 * 128, 0);
    const double spread = demand_on(counted(*one, m), Resource::vector_cycles)->amount;
    set(m, Parameter::head_parallel_attention, 1);
    CHECK(demand_on(counted(*one, m), Resource::vector_cycles)->amount == Approx(spread * 16 / 12));
}

TEST_CASE("Winograd saves multiplications where the stack has it", "[cpu]") {
    Machine m = cpu_machine();
    auto one = convolution(1, 64, 64, 48, 3, 1, Precision::fp32);
    set(m, Parameter::vector_convolution_efficiency, 0.8);
    const double direct = lane_seconds(counted(*one, m), m, Lane::compute);
    set(m, Parameter::winograd_efficiency, 0.3);
    const Mapping fast = counted(*one, m);
    // F(6x6, 3x3) on 48 x 48 pixels: 9 * 36 / 64 fewer multiply-accumulates at 0.3 instead of 0.8 of the
    // rate.
    CHECK(lane_seconds(fast, m, Lane::compute) == Approx(direct * 0.8 / 0.3 * 64 / (9 * 36)));
    // 8 x 8 tiles of 64 values and 64 channels, in fp32.
    CHECK(fast.workspace_bytes == Approx(8.0 * 8 * 64 * 64 * 4));
    CHECK(counted(*one, cpu_machine()).workspace_bytes == 0);
}

TEST_CASE("packing passes walk the unfolded columns where the stack writes them", "[cpu]") {
    Machine m = cpu_machine();
    // All bytes at one rate, so that time counts them: input x passes + output + weights, in fp32.
    set_rate(m, Resource::l2_bytes, 1e11);
    set_rate(m, Resource::llc_bytes, 1e11);
    set(m, Parameter::convolution_input_passes, 2);
    auto five = convolution(1, 16, 16, 32, 5, 1, Precision::fp32);
    const double image = 4.0 * 16 * 32 * 32, weights = 4.0 * 16 * 16 * 25;
    const auto bytes = [&](OneOperator& one) {
        const Mapping out = counted(one, m);
        return (lane_seconds(out, m, Lane::on_chip) + lane_seconds(out, m, Lane::memory)) * 1e11;
    };
    CHECK(bytes(*five) == Approx(2 * image + image + weights));
    set(m, Parameter::column_packing, 1);
    CHECK(bytes(*five) == Approx(2 * 25 * image + image + weights));
    CHECK(counted(*five, m).workspace_bytes == Approx(25 * image));
    auto pointwise = convolution(1, 16, 16, 32, 1, 1, Precision::fp32);
    CHECK(bytes(*pointwise) == Approx(2 * image + image + weights / 25));
}

TEST_CASE("data beyond the caches reach DRAM, data inside hardly", "[cpu]") {
    const Machine m = cpu_machine();
    auto small = matmul(64, 512, 512, Precision::fp32);
    auto large = matmul(64, 16384, 16384, Precision::fp32);
    const Mapping resident = counted(*small, m);
    const Demand* inside = demand_on(resident, Resource::dram_bytes);
    CHECK((inside == nullptr || inside->amount < 0.01 * small->work().weight_bytes));
    CHECK(demand_on(counted(*large, m), Resource::dram_bytes)->amount > 0.95 * large->work().weight_bytes);
}

TEST_CASE("twice the batch never takes less time on cores", "[cpu]") {
    Machine m = cpu_machine(true);
    set(m, Parameter::operand_replication, 1);
    for (Precision p : {Precision::fp32, Precision::bf16, Precision::int8})
        for (double side : {7.0, 14.0, 56.0}) {
            double before = 0;
            for (double batch = 1; batch <= 32; batch *= 2) {
                auto one = convolution(batch, 64, 96, side, 3, 1, p);
                const Mapping out = counted(*one, m);
                const double time = lane_seconds(out, m, Lane::compute);
                CHECK(time >= before * (1 - 1e-9));
                before = time;
            }
        }
}
