// Counts of attention, depthwise and vector kernels by the GPU mapper, and the rates of its engines, each
// derived by hand from docs/mappers/gpu.md, on the machine of gpu_ten_units.hpp.

#include "family/gpu_ten_units.hpp"
#include "family/gpu_view.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// Two sequences of 4 heads of 32 + 48 values each.
std::unique_ptr<OneOperator> attention(double queries, double kv_heads) {
    OperatorWork work;
    AttentionShape a;
    a.batch = 2;
    a.heads = 4;
    a.kv_heads = kv_heads;
    a.query_length = queries;
    a.kv_length = 100;
    a.head_size = 32;
    a.value_size = 48;
    work.attention = a;
    work.macs = 8 * queries * 100 * 80;
    return one_operator(OpKind::attention, Precision::fp16, work, 5000, 2000, 0);
}

} // namespace

TEST_CASE("GPU: attention in blocks of 64 queries", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::attention_efficiency, 0.5);
    set(m, Parameter::wave_rounding, 0.5);
    auto one = attention(100, 4);
    const Mapping fused = counted(*one, m);
    // 8 heads x 2 blocks on ten units: 1.6 waves, half of the rest lost: 1.8. Keys pad to 128.
    const double padded = 16 * 64 * 128 * 80, macs = 8 * 100 * 100 * 80;
    const double l2 = 14000 + 16 * 100 * 80 * 2; // each block reads its head's keys and values
    check_demands(fused, {{Resource::matrix_cycles, Lane::compute, 1.8 * 10 * 64 * 128 * 80 * 2 / 10240, 0.5},
                          {Resource::dram_bytes, Lane::memory, 14000},
                          {Resource::l2_bytes, Lane::on_chip, l2},
                          {Resource::overhead_cycles, Lane::overhead, 6000},
                          {Resource::seconds, Lane::overhead, 1e-6}});
    check_allocation(fused, 10, 10, 1.6, macs / padded);
    CHECK(fused.ideal_cycles == Approx(2 * macs / 10240));
    CHECK(fused.events[Event::instruction] == Approx(padded / 2048 + 4000 / 512.0));
    // Three kernels write or read the scores four times. Products of 8 heads in tiles, half of what a last
    // wave leaves idle lost: 64 tiles of 32 x 64 and one step of 32 are 6.7 waves of 128 cycles; 100 x 48
    // results of four steps take 3.6 waves of 512, whatever the tile.
    set(m, Parameter::fused_attention_bits, 8);
    set(m, Parameter::attention_block_rows, 384); // no matter of ordinary products
    const Mapping loose = counted(*one, m);
    const double scores = 8 * 100 * 100 * 2;
    CHECK(demand_on(loose, Resource::matrix_cycles)->amount == Approx(6.7 * 128 + 3.6 * 512));
    CHECK(demand_on(loose, Resource::matrix_cycles)->efficiency == Approx(0.8)); // as other products
    CHECK(demand_on(loose, Resource::dram_bytes)->amount == 14000 + 4 * scores);
    CHECK(demand_on(loose, Resource::overhead_cycles)->amount == 3 * 6000);
    CHECK(loose.workspace_bytes == scores);
}

TEST_CASE("GPU: short sequences are whole blocks of attention, softmax takes lanes of its own",
          "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::attention_block_rows, 100);
    set(m, Parameter::softmax_efficiency, 0.5);
    auto one = attention(100, 4);
    one->work().vector_ops = 4000;
    one->work().special_ops = 1000;
    const Mapping whole = counted(*one, m);
    // 8 heads are 8 blocks on ten units: one wave of 128 x 128 scores, in which two units wait.
    const double waited = 10 * 128.0 * 128 * 80, stretch = waited / (8 * 100 * 100 * 80);
    CHECK(demand_on(whole, Resource::matrix_cycles)->amount == Approx(2 * waited / 10240));
    CHECK(demand_on(whole, Resource::matrix_cycles)->efficiency == Approx(0.8)); // as other products
    check_allocation(whole, 8, 10, 0.8, 8 * 100 * 100 * 80 / (8 * 128.0 * 128 * 80));
    // An operation that is no multiply-add takes as long as one: 2 of 1280 a cycle; 80 special functions.
    CHECK(demand_on(whole, Resource::vector_cycles)->amount == Approx(stretch * 2 * 4000 / 1280));
    CHECK(demand_on(whole, Resource::vector_cycles)->efficiency == Approx(0.5));
    CHECK(demand_on(whole, Resource::special_cycles)->amount == Approx(stretch * 1000 / 80));
    CHECK(demand_on(whole, Resource::l2_bytes)->amount == 14000 + 8 * 100 * 80 * 2);
    // 8 bits shorten the products and not the softmax between them: they run in 16.
    one->work().precision = Precision::int8;
    CHECK(counted(*one, m).events.macs[static_cast<std::size_t>(Precision::fp16)] == 8 * 100 * 100 * 80);
    // Longer sequences come in blocks of 64.
    set(m, Parameter::attention_block_rows, 99);
    CHECK(counted(*one, m).allocation.waves == Approx(1.6));
}

TEST_CASE("GPU: few queries stream keys and values once per group of heads", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::attention_efficiency, 0.5);
    auto one = attention(2, 2);
    one->network.precision.kv_cache = Precision::int8;
    const double macs = 8 * 2 * 100 * 80, l2 = 14000 + 4 * 100 * 80;
    // 2 queries x 2 heads of a group fill 4 of 16 rows of an instruction: 4 x 16 x 100 x 80 products, 100 /
    // 0.5 cycles against 200 / 0.5 on the lanes.
    const Mapping matrix = counted(*one, m);
    CHECK(demand_on(matrix, Resource::matrix_cycles)->amount == Approx(2 * 4 * 16 * 100 * 80 / 10240.0));
    CHECK(demand_on(matrix, Resource::l2_bytes)->amount == l2);
    check_allocation(matrix, 10, 10, 1, 0.25);
    set(m, Parameter::attention_efficiency, 0.2);
    const Mapping lanes = counted(*one, m);
    CHECK(demand_on(lanes, Resource::vector_cycles)->amount == Approx(2 * macs / 1280));
    CHECK(demand_on(lanes, Resource::vector_cycles)->efficiency == Approx(0.5));
    check_allocation(lanes, 10, 10, 1, 1);
    CHECK(lanes.ideal_cycles == Approx(2 * macs / 1280));
    // 10 heads to a group and 2 queries need two instructions' rows.
    one->op.work.attention->heads = 20;
    one->op.work.attention->kv_heads = 2;
    set(m, Parameter::attention_efficiency, 0.9);
    CHECK(demand_on(counted(*one, m), Resource::matrix_cycles)->amount ==
          Approx(2 * 4 * 32 * 100 * 80 / 10240.0));
}

TEST_CASE("GPU: attention as products tells its sizes by them", "[formulas][gpu]") {
    OperatorWork work;
    work.contractions = {{8, 100, 50, 32, false}, {8, 100, 48, 50, false}};
    work.macs = 8 * 100 * 50 * 80;
    auto one = one_operator(OpKind::attention, Precision::fp16, work, 5000, 2000, 0);
    const Mapping out = counted(*one, ten_units());
    CHECK(out.ideal_cycles == Approx(2 * work.macs / 10240));
    CHECK(out.allocation.useful_fraction == Approx(work.macs / (16 * 64 * 64 * 80)));
    CHECK(demand_on(out, Resource::l2_bytes)->amount == 14000 + 16 * 50 * 80 * 2);
}

TEST_CASE("GPU: depthwise convolution on vector lanes", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::depthwise_efficiency, 0.2);
    set(m, Parameter::narrow_depthwise_gain, 1.5);
    set(m, Parameter::depthwise_bandwidth_efficiency, 0.9);
    set(m, Parameter::unit_load_bytes_per_clock, 20);
    set(m, Parameter::weight_traffic, 2);
    auto one = convolution(1, 64, 64, 16, 3, 64, Precision::fp16);
    const Mapping out = counted(*one, m);
    const double macs = 256 * 64 * 9, boundary = 2 * 256 * 64 * 2, weights = 64 * 9 * 2 * 2;
    // 65536 bytes keep four units of 1024 threads with 16 bytes each busy: 80 of 1000 bytes per cycle.
    check_demands(out, {{Resource::vector_cycles, Lane::compute, 2 * macs / (1280 * 1.5), 0.2},
                        {Resource::dram_bytes, Lane::memory, boundary, 0.08},
                        {Resource::weight_bytes, Lane::memory, weights, 0.08},
                        {Resource::l2_bytes, Lane::on_chip, boundary + weights},
                        {Resource::overhead_cycles, Lane::overhead, 6000},
                        {Resource::seconds, Lane::overhead, 1e-6}});
    const double written = boundary / 2;
    check_events(out.events, {{Precision::fp16, macs}},
                 {{Event::instruction, macs / 64 + written / 512},
                  {Event::register_byte, macs / 2 * 16},
                  {Event::l1_byte, macs * 2 * kShared + written},
                  {Event::scheduling, written / 512},
                  {Event::l2_byte, boundary + weights},
                  {Event::dram_byte, boundary + weights},
                  {Event::coherence, (boundary + weights) / 128}});
    check_allocation(out, 4, 10, 0, 1);
    CHECK(out.ideal_cycles == Approx(2 * macs / (1280 * 1.5)));
}

TEST_CASE("GPU: softmax and sorting move bytes in several passes", "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::normalization_traffic, 2);
    set(m, Parameter::simple_bandwidth_efficiency, 0.9);
    set(m, Parameter::unit_load_bytes_per_clock, 20);
    OperatorWork work;
    work.vector_ops = 10000;
    work.special_ops = 2000;
    work.passes = 3;
    auto softmax = one_operator(OpKind::softmax, Precision::fp16, work, 16384, 16384, 0);
    const Mapping out = counted(*softmax, m);
    const double bytes = 2 * 16384 * 2 * 2; // eight units' worth of threads
    // Special functions at a sixteenth of the lanes' operations.
    check_demands(out, {{Resource::vector_cycles, Lane::compute, 10000 / 1280.0, 0.5},
                        {Resource::special_cycles, Lane::compute, 2000 / 80.0, 0.5},
                        {Resource::dram_bytes, Lane::memory, bytes, 0.16},
                        {Resource::l2_bytes, Lane::on_chip, bytes},
                        {Resource::overhead_cycles, Lane::overhead, 3000},
                        {Resource::seconds, Lane::overhead, 1e-6}});
    check_events(out.events, {},
                 {{Event::vector_op, 10000},
                  {Event::special_op, 2000},
                  {Event::instruction, 12000 / 32.0 + bytes / 512},
                  {Event::register_byte, 12000 * 12},
                  {Event::l1_byte, bytes},
                  {Event::scheduling, bytes / 512},
                  {Event::l2_byte, bytes},
                  {Event::dram_byte, bytes},
                  {Event::coherence, bytes / 128}});
    check_allocation(out, 8, 10, 0, 1);
    auto sorting = one_operator(OpKind::sorting, Precision::fp16, work, 16384, 16384, 0);
    CHECK(demand_on(counted(*sorting, m), Resource::dram_bytes)->amount == 3 * 2 * 16384 * 2);
    // A tensor of few bytes keeps one unit busy, a large one all of them.
    auto tiny = one_operator(OpKind::elementwise, Precision::fp16, work, 10, 10, 0);
    CHECK(counted(*tiny, m).allocation.units_used == 1);
    auto large = one_operator(OpKind::elementwise, Precision::fp16, work, 1e6, 1e6, 0);
    CHECK(counted(*large, m).allocation.units_used == 10);
}

TEST_CASE("GPU: rates and efficiencies of the engines", "[formulas][gpu]") {
    Machine m = ten_units();
    m.matrix_ops_per_cycle[static_cast<std::size_t>(Precision::fp8)] = 20480;
    m.matrix_ops_per_cycle[static_cast<std::size_t>(Precision::fp4)] = 40960;
    set(m, Parameter::fp8_relative_efficiency, 0.9);
    set(m, Parameter::fp4_relative_efficiency, 0.7);
    const NetworkWork network;
    const gpu::View view(m, network);
    CHECK(view.engine(Precision::fp8, false).multiply.efficiency == Approx(0.72));
    CHECK(view.engine(Precision::fp4, false).multiply.efficiency == Approx(0.56));
    CHECK(view.engine(Precision::fp8, false).tiles.ops_per_cycle == 2048);
    // Special-function units of the database, in a mode that keeps half of them.
    auto device = std::make_shared<Device>(*m.device);
    Engine special;
    special.kind = EngineClass::special;
    special.count = 10;
    special.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(16);
    device->engines.push_back(special);
    m.device = device;
    m.active_fraction = 0.5;
    CHECK(gpu::View(m, network).special_per_cycle == 80);
}

TEST_CASE("GPU: overlapping streams leave a part of a kernel's floor", "[formulas][gpu]") {
    Machine m = ten_units();
    m.scenario = Scenario::throughput;
    set(m, Parameter::stream_overlap, 0.25);
    auto one = matmul(100, 40, 70, Precision::fp16);
    const Mapping out = counted(*one, m);
    CHECK(demand_on(out, Resource::overhead_cycles)->amount == 0.25 * 6000);
    CHECK(demand_on(out, Resource::seconds)->amount == Approx(0.25e-6));
    // Other streams fill the idle units: 0.4 waves are 0.4 x 384 cycles, and larger tiles cost no more.
    CHECK(demand_on(out, Resource::matrix_cycles)->amount == Approx(2 * 128 * 64 * 96 / 10240.0));
    // With one queue their kernels run one after the other, and nothing that the queue does is hidden.
    auto device = std::make_shared<Device>(*m.device);
    own(*device, "compute_queues") = fact(1);
    m.device = device;
    const Mapping alone = counted(*one, m);
    CHECK(demand_on(alone, Resource::overhead_cycles)->amount == 6000);
    CHECK(demand_on(alone, Resource::seconds)->amount == Approx(1e-6));
    m.scenario = Scenario::latency;
    CHECK(demand_on(alone, Resource::matrix_cycles)->amount ==
          demand_on(counted(*one, m), Resource::matrix_cycles)->amount);
}

TEST_CASE("GPU: kernels pass through the driver unless programs write the queue", "[formulas][gpu]") {
    Machine m = ten_units();
    auto one = matmul(100, 40, 70, Precision::fp16);
    const auto of_driver = [&] {
        double seconds = 0;
        for (const Demand& d : counted(*one, m).all())
            if (d.reason == Parameter::submission_time)
                seconds += d.amount;
        return seconds;
    };
    CHECK(of_driver() == 0); // a stack that states no time has none
    set(m, Parameter::submission_time, 18e-6);
    CHECK(of_driver() == Approx(18e-6));
    // While a kernel of one stream runs, the driver takes those of others, also where there is one queue.
    auto device = std::make_shared<Device>(*m.device);
    own(*device, "compute_queues") = fact(1);
    m.device = device;
    m.scenario = Scenario::throughput;
    set(m, Parameter::stream_overlap, 0.25);
    CHECK(of_driver() == Approx(4.5e-6));
    device = std::make_shared<Device>(*m.device);
    own(*device, "user_submission") = fact(1);
    m.device = device;
    for (const Scenario scenario : {Scenario::throughput, Scenario::latency}) {
        m.scenario = scenario;
        CHECK(of_driver() == 0);
    }
}

TEST_CASE("GPU: steps of a recurrence are kernels, narrow attention multiplies in half precision",
          "[formulas][gpu]") {
    Machine m = ten_units();
    auto recurrent = matmul(100, 40, 70, Precision::fp16);
    recurrent->op.work.serial_steps = 30;
    CHECK(demand_on(counted(*recurrent, m), Resource::overhead_cycles)->amount == 30 * 6000);
    auto narrow = attention(100, 4);
    narrow->work().precision = Precision::fp8;
    CHECK(counted(*narrow, m).events.macs[static_cast<std::size_t>(Precision::fp16)] == 8 * 100 * 100 * 80);
}

TEST_CASE("GPU: a stack that sums fp16 products in fp16 runs at the rate for that", "[formulas][gpu]") {
    Machine m = ten_units();
    const auto one = matmul(64, 64, 64, Precision::fp16);
    const auto rate = [&](Precision p) {
        return gpu::View(m, one->network).engine(p, false).multiply.ops_per_cycle;
    };
    CHECK(rate(Precision::fp16) == 10240);
    set(m, Parameter::half_accumulation, 1);
    CHECK(rate(Precision::fp16) == 10240); // this device has one rate
    auto device = std::make_shared<Device>(*m.device);
    own(*device, "half_accumulation_rate") = fact(2);
    m.device = device;
    CHECK(rate(Precision::fp16) == 20480);
    CHECK(rate(Precision::int8) == 20480); // integers are summed in 32 bits
    set(m, Parameter::half_accumulation, 0);
    CHECK(rate(Precision::fp16) == 10240);
}
