// Counts of the CPU mapper, each derived by hand from docs/mappers/cpu.md.

#include "family/cpu_machines.hpp"
#include "family/cpu_view.hpp"

#include <cmath>

using namespace archsim;
using namespace archsim::test;

namespace {

/// What the four cores fetch on the chip: bytes from caches, those of their own L2, and from DRAM.
struct Fetched {
    double caches, weights, near, dram;
    /// `data`: activations once; `read`: by all cores; `loaded`: weights by all cores; `all`: weights once.
    Fetched(double data, double read, double loaded, double all) : caches(read), weights(loaded) {
        near = read / 4 / (1 + std::pow(data / (0.7 * 4e4), 4));
        dram = all / (1 + std::pow(1.4e5 / all, 4)) + data / (1 + std::pow(1.4e5 / data, 2));
    }
    double crossing() const { return caches - near + weights; }
};

void check_traffic(const Mapping& m, const Fetched& f, double l1_of_products) {
    CHECK(demand_on(m, Resource::l2_bytes)->amount == Approx(f.near));
    CHECK(demand_on(m, Resource::llc_bytes)->amount == Approx(f.crossing() - f.dram));
    CHECK(demand_on(m, Resource::dram_bytes)->amount == Approx(f.dram));
    CHECK(m.events[Event::l1_byte] == Approx(l1_of_products + f.caches + f.weights));
    CHECK(m.events[Event::l2_byte] == Approx(f.caches + f.weights));
    CHECK(m.events[Event::llc_byte] == Approx(f.crossing()));
    CHECK(m.events[Event::dram_byte] == Approx(f.dram));
    CHECK(m.events[Event::coherence] == Approx(f.crossing() / 64));
}

// A product instruction with its loads, 10 for every 24.
constexpr double kWithLoads = 34.0 / 24, kLoads = 10.0 / 24;

} // namespace

TEST_CASE("CPU: a product in blocks on four cores", "[formulas][cpu]") {
    // 40 x 36 x 10: 4 x 3 blocks of 10 x 12 -> 16 x 10, three rounds; 3 x 3 of 14 rows would take as many.
    Machine m = four_cores();
    set(m, Parameter::vector_matrix_efficiency, 0.8);
    set(m, Parameter::sync_time, 9e-6);
    set(m, Parameter::sync_time_per_core, 1e-6);
    auto one = matmul(40, 36, 10, Precision::fp32);
    const Mapping out = counted(*one, m);
    const double macs = 14400, padded = 12 * 10 * 16 * 10;
    const Demand* cycles = demand_on(out, Resource::vector_cycles);
    CHECK(cycles->amount == Approx(2 * padded / (32 * 4)));
    CHECK(cycles->efficiency == Approx(0.8));
    CHECK(lane_seconds(out, m, Lane::overhead) == Approx(9e-6 + 4e-6));
    check_allocation(out, 4, 4, 0, macs / padded);
    CHECK(out.ideal_cycles == Approx(2 * macs / 128));
    // 8 products to an instruction; two operands, an accumulator read and written, of 32 bytes each.
    CHECK(out.events.macs[static_cast<std::size_t>(Precision::fp32)] == macs);
    CHECK(out.events[Event::instruction] == Approx(macs / 8 * kWithLoads));
    CHECK(out.events[Event::register_byte] == Approx(macs / 8 * 4 * 32));
    CHECK(out.events[Event::scheduling] == 4);
    check_traffic(out, {1600 + 5760, 1600 + 5760, 1440, 1440}, macs / 8 * kLoads * 32);
}

TEST_CASE("CPU: cores that share operands fetch copies of them", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::operand_replication, 1);
    // Input 1600 and weights 1440 bytes: sqrt(4 x 1600 / 1440) = 2.11 shares of rows, 1.90 of columns.
    auto even = matmul(40, 36, 10, Precision::fp32);
    const double rows = std::sqrt(4 * 1600 / 1440.0);
    check_traffic(counted(*even, m), {7360, 4 * 1600 / rows + 5760, 1440 * rows, 1440},
                  14400 / 8 * kLoads * 32);
    // Weights outweigh: each core has columns of its own and reads the whole input.
    auto wide = matmul(8, 64, 100, Precision::fp32);
    check_traffic(counted(*wide, m), {3200 + 2048, 4 * 3200 + 2048, 25600, 25600}, 51200 / 8 * kLoads * 32);
    // Input outweighs, and one column of blocks allows no split along it: four shares of rows.
    auto tall = matmul(400, 16, 2, Precision::fp32);
    check_traffic(counted(*tall, m), {3200 + 25600, 3200 + 25600, 4 * 128, 128}, 12800 / 8 * kLoads * 32);
    // 17 rows are three shares of eight.
    auto few = matmul(17, 32, 100, Precision::fp32);
    const double shares = std::sqrt(4 * 6800 / 12800.0); // within 2 (two columns of blocks) and 3
    CHECK(shares < 2);
    check_traffic(counted(*few, m), {6800 + 2176, 4 * 6800 / 2 + 2176, 4 * 12800 / 2, 12800},
                  17 * 3200 / 8.0 * kLoads * 32);
    // A strided convolution whose input outweighs its weights fourfold: 16 rows allow two shares of eight.
    auto strided = matmul(16, 64, 10, Precision::fp32);
    strided->work().input_bytes = 16 * 640;
    check_traffic(counted(*strided, m), {10240 + 4096, 4 * 10240 / 2 + 4096, 4 * 2560 / 2, 2560},
                  10240 / 8 * kLoads * 32);
    // Attention products: one head's operands go to the cores of that head.
    OperatorWork work;
    work.contractions = {{3, 20, 20, 16, false}};
    work.macs = work.contractions.front().macs();
    auto heads = one_operator(OpKind::matmul, Precision::fp32, work, 2 * 3 * 20 * 16, 3 * 20 * 20, 0);
    const double input = 1920 * 4, output = 1200 * 4;
    const Mapping out = counted(*heads, m);
    CHECK(out.events[Event::l2_byte] == Approx(4 * input / 3 + output));
}

TEST_CASE("CPU: tiles of 16 rows of 64 bytes", "[formulas][cpu]") {
    // 40 x 36 x 50 in bf16: 2 x 2 blocks of 20 -> 32 rows, 18 -> 32 columns, 50 -> 64 steps.
    Machine m = four_cores(true);
    set(m, Parameter::matrix_efficiency, 0.7);
    auto one = matmul(40, 36, 50, Precision::bf16);
    const Mapping out = counted(*one, m);
    const double macs = 72000, padded = 4 * 32 * 32 * 64, products = macs / (16 * 16 * 32);
    CHECK(demand_on(out, Resource::matrix_cycles)->amount == Approx(2 * padded / (512 * 4)));
    CHECK(demand_on(out, Resource::matrix_cycles)->efficiency == Approx(0.7));
    check_allocation(out, 4, 4, 0, macs / padded);
    CHECK(out.events[Event::instruction] == Approx(products * kWithLoads));
    CHECK(out.events[Event::register_byte] == Approx(products * 4096)); // three tiles read, one written
    CHECK(out.events[Event::l1_byte] - out.events[Event::l2_byte] == Approx(products * kLoads * 1024));
}

TEST_CASE("CPU: 8-bit dot products and native half precision", "[formulas][cpu]") {
    // Four bytes to a lane: K = 10 -> 12, 32 products to an instruction.
    auto narrow = matmul(40, 36, 10, Precision::int8);
    Machine m = four_cores();
    const Mapping out = counted(*narrow, m);
    CHECK(demand_on(out, Resource::vector_cycles)->amount == Approx(2 * 12 * 10 * 16 * 12 / (128.0 * 4)));
    CHECK(out.events[Event::instruction] == Approx(14400 / 32 * kWithLoads));
    CHECK(out.events[Event::register_byte] == Approx(14400 / 32 * 4 * 32));
    // Two fp16 values to a lane: 12 -> 16 columns of one instruction.
    auto device = std::make_shared<Device>(*m.device);
    device->engines[0].ops_per_clock[static_cast<std::size_t>(Precision::fp16)] = fact(64);
    m.device = device;
    assume(m);
    auto half = matmul(40, 36, 10, Precision::fp16);
    const Mapping wide = counted(*half, m);
    CHECK(demand_on(wide, Resource::vector_cycles)->amount == Approx(2 * 12 * 10 * 16 * 10 / (64.0 * 4)));
    CHECK(wide.events[Event::instruction] == Approx(14400 / 16 * kWithLoads));
    CHECK(wide.events[Event::register_byte] == Approx(14400 / 16 * 4 * 32));
}

TEST_CASE("CPU: Winograd with tiles over the border", "[formulas][cpu]") {
    // 10 x 10 pixels: F(6x6) saves 9 x 36 / 64 times the products of 12 x 12 pixels. Eight blocks of 13
    // pixels and 16 channels on four cores: 104 pixels in two rounds, where seven of 15 would take 120.
    Machine m = four_cores();
    set(m, Parameter::vector_convolution_efficiency, 0.5);
    set(m, Parameter::winograd_efficiency, 0.25);
    set(m, Parameter::winograd_input_passes, 3);
    auto one = convolution(1, 16, 16, 10, 3, 1, Precision::fp32);
    const double saved = 9 * 36 / 64.0 * 100 / 144, padded = 8 * 13 * 16 * 144 / saved;
    const Mapping fast = counted(*one, m);
    REQUIRE(std::string(fast.allocation.scheme) == "Winograd");
    CHECK(demand_on(fast, Resource::vector_cycles)->amount == Approx(2 * padded / 128));
    CHECK(demand_on(fast, Resource::vector_cycles)->efficiency == Approx(0.25));
    CHECK(fast.events.macs[static_cast<std::size_t>(Precision::fp32)] == Approx(230400 / saved));
    CHECK(fast.allocation.useful_fraction == Approx(230400 / saved / padded));
    CHECK(fast.ideal_cycles == Approx(2 * 230400 / saved / 128));
    CHECK(fast.workspace_bytes == 4 * 64 * 16 * 4);               // 2 x 2 tiles of 8 x 8 values
    CHECK(fast.events[Event::l2_byte] == 3 * 6400 + 6400 + 9216); // input in three passes, output, weights
    // 3.52 times fewer at 0.14 of the rate gain nothing on 0.5.
    set(m, Parameter::winograd_efficiency, 0.14);
    CHECK(std::string(counted(*one, m).allocation.scheme) == "vector blocks");
    // 8 bits: F(4x4) alone, 2.78 times fewer, its 3 x 3 tiles of 6 x 6 values of two bytes.
    set(m, Parameter::integer_vector_efficiency, 0.5);
    set(m, Parameter::integer_winograd_efficiency, 0.25);
    auto narrow = convolution(1, 16, 16, 10, 3, 1, Precision::int8);
    const Mapping bytes = counted(*narrow, m);
    CHECK(bytes.workspace_bytes == 9 * 36 * 16 * 2);
    CHECK(bytes.events.macs[static_cast<std::size_t>(Precision::int8)] == Approx(230400 / (4.0 * 100 / 144)));
}

TEST_CASE("CPU: a core that decodes more instructions starts kernels sooner", "[formulas][cpu]") {
    // Stated beside 17.4 G instructions per second; four per clock of 1 GHz are 4.35 times slower. What a
    // further core adds is a signal across the chip and stays.
    Machine m = four_cores();
    set(m, Parameter::sync_time, 9e-6);
    set(m, Parameter::sync_time_per_core, 1e-6);
    set(m, Parameter::kernel_overhead, 2e-6);
    auto device = std::make_shared<Device>(*m.device);
    const auto overhead = [&](double width) {
        own(*device, "decode_width") = fact(width);
        m.device = device;
        auto one = matmul(40, 36, 10, Precision::fp32);
        return lane_seconds(counted(*one, m), m, Lane::overhead);
    };
    CHECK(overhead(17.4) == Approx(11e-6 + 4e-6));
    CHECK(overhead(4) == Approx(11e-6 * 4.35 + 4e-6));
    CHECK(overhead(8) < overhead(4));
}

TEST_CASE("CPU: depthwise convolution in rows of vectors", "[formulas][cpu]") {
    // 20 channels are three vectors, times 6 rows: 18 pieces on four cores, 20 / 18.
    Machine m = four_cores();
    set(m, Parameter::depthwise_efficiency, 0.4);
    set(m, Parameter::depthwise_input_passes, 3);
    set(m, Parameter::convolution_kernels, 2);
    set(m, Parameter::kernel_overhead, 1e-6);
    auto one = convolution(1, 20, 20, 6, 3, 20, Precision::fp32);
    const Mapping out = counted(*one, m);
    const double macs = 36 * 20 * 9;
    CHECK(demand_on(out, Resource::vector_cycles)->amount == Approx(2 * macs * 20 / 18 / 128));
    CHECK(demand_on(out, Resource::vector_cycles)->efficiency == Approx(0.4));
    CHECK(out.ideal_cycles == Approx(2 * macs / 128));
    CHECK(out.allocation.units_used == 4);
    CHECK(lane_seconds(out, m, Lane::overhead) == Approx(2e-6));
    CHECK(out.events[Event::instruction] == Approx(macs / 8 * kWithLoads));
    CHECK(out.events[Event::register_byte] == Approx(macs / 8 * 4 * 32)); // as in other products
    CHECK(out.events[Event::l2_byte] == 3 * 2880 + 2880 + 720);
    // Native half precision: twice the rate, twice the values in a register.
    auto device = std::make_shared<Device>(*m.device);
    device->engines[0].ops_per_clock[static_cast<std::size_t>(Precision::fp16)] = fact(64);
    m.device = device;
    assume(m);
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::fp16)] = 256;
    auto half = convolution(1, 20, 20, 6, 3, 20, Precision::fp16);
    const Mapping twice = counted(*half, m);
    CHECK(demand_on(twice, Resource::vector_cycles)->amount == Approx(2 * macs * 20 / 18 / 256));
    CHECK(twice.ideal_cycles == Approx(2 * macs / 256));
    CHECK(twice.events[Event::register_byte] == Approx(macs / 16 * 4 * 32));
}

TEST_CASE("CPU: passes over input, output and weights of a convolution", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::convolution_input_passes, 2);
    set(m, Parameter::convolution_output_passes, 3);
    set(m, Parameter::window_weight_passes, 5);
    set(m, Parameter::pointwise_weight_passes, 7);
    auto window = convolution(1, 4, 6, 10, 3, 1, Precision::fp32);
    CHECK(counted(*window, m).events[Event::l2_byte] == 2 * 1600 + 3 * 2400 + 5 * 864);
    auto pointwise = convolution(1, 4, 6, 10, 1, 1, Precision::fp32);
    CHECK(counted(*pointwise, m).events[Event::l2_byte] == 2 * 1600 + 3 * 2400 + 7 * 96);
    // Columns of a strided convolution: 9 taps x 25 results for 100 pixels.
    set(m, Parameter::column_packing, 1);
    window->op.work.window->out = {1, 5, 5};
    const Mapping columns = counted(*window, m);
    CHECK(columns.events[Event::l2_byte] == 2 * 1600 * 9 * 25 / 100 + 3 * 2400 + 5 * 864);
    CHECK(columns.workspace_bytes == 1600 * 9 * 25 / 100);
}

TEST_CASE("CPU: a fused exponential and the parts of a chain of kernels", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::element_cycles, 1.5);
    set(m, Parameter::transcendental_cycles, 5);
    set(m, Parameter::kernel_overhead, 1e-6);
    auto one = matmul(40, 36, 10, Precision::fp32);
    Operator gelu;
    gelu.work.kind = OpKind::elementwise;
    gelu.work.special_ops = 1440;
    OperatorUse use;
    use.op = &gelu;
    use.compute = Precision::fp32;
    use.input_elements = use.output_elements = 1440;
    one->uses.add(one->work(), use);
    one->op.work.serial_steps = 30;
    const Mapping out = counted(*one, m);
    // 1440 / 8 = 180 vectors of 5 cycles on four cores, all busy.
    CHECK(out.demands[1].amount == Approx(180 * 5 / 4.0));
    CHECK(lane_seconds(out, m, Lane::overhead) == Approx(30e-6)); // steps of a recurrence start one by one
}

TEST_CASE("CPU: cycles of operators outside products", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::element_cycles, 1.5);
    set(m, Parameter::transcendental_cycles, 5);
    const auto cycles = [&](OpKind kind, double special, Precision p = Precision::fp32) {
        OperatorWork work;
        work.vector_ops = 3000;
        work.special_ops = special;
        auto one = one_operator(kind, p, work, 4000, 1000, 0);
        return demand_on(counted(*one, m), Resource::vector_cycles)->amount;
    };
    // 1000 results are 125 vectors, 32 rounds of four: 128 / 125.
    CHECK(cycles(OpKind::pooling, 0) == Approx(2 * 4000 * 1.5 / 32 * 128 / 125));
    CHECK(cycles(OpKind::reduction, 0) == Approx(2 * 4000 * 1.5 / 32 * 128 / 125));
    CHECK(cycles(OpKind::softmax, 1000) == Approx(2 * 1000 * 5 / 32.0 * 128 / 125));
    CHECK(cycles(OpKind::normalization, 0) == Approx(1000 * 5 / 32.0 * 128 / 125));
    CHECK(cycles(OpKind::elementwise, 1000) == Approx(1000 * 5 / 32.0 * 128 / 125));
    CHECK(cycles(OpKind::elementwise, 0) == Approx(1000 * 1.5 / 32 * 128 / 125));
    // Native half precision doubles the elements of a vector, but not where sums stay in fp32.
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::fp16)] = 256;
    CHECK(cycles(OpKind::elementwise, 0, Precision::fp16) == Approx(1000 * 1.5 / 64 * 128 / 125));
    CHECK(cycles(OpKind::softmax, 1000, Precision::fp16) == Approx(2 * 1000 * 5 / 32.0 * 128 / 125));
    CHECK(cycles(OpKind::normalization, 0, Precision::fp16) == Approx(1000 * 5 / 32.0 * 128 / 125));
}

TEST_CASE("CPU: a vector loop, its events and its heads", "[formulas][cpu]") {
    Machine m = four_cores();
    OperatorWork work;
    work.vector_ops = 3000;
    work.special_ops = 1000;
    auto one = one_operator(OpKind::softmax, Precision::fp32, work, 1200, 1200, 0);
    one->work().extra_bytes = 400;
    const Mapping out = counted(*one, m);
    CHECK(out.ideal_cycles == Approx(4000 / 128.0));
    CHECK(out.events[Event::vector_op] == 3000);
    CHECK(out.events[Event::special_op] == 1000);
    CHECK(out.events[Event::instruction] == 2 * 4000 / 8); // with its load or store
    CHECK(out.events[Event::register_byte] == 4000 / 8 * 4 * 32);
    check_traffic(out, {10000, 10000, 0, 0.0001}, 0);
    check_allocation(out, 4, 4, 0, 1);
    // 2 x 3 heads on four cores: two rounds.
    ShapedTensor scores;
    scores.shape = {2, 3, 10, 20};
    one->graph.tensors = {scores};
    one->op.outputs = {0};
    set(m, Parameter::head_parallel_attention, 1);
    CHECK(demand_on(counted(*one, m), Resource::vector_cycles)->amount == Approx(2 * 1200 / 32.0 * 8 / 6));
    one->graph.tensors[0].shape = {1, 3, 20, 20};
    CHECK(counted(*one, m).allocation.units_used == 3);
    // An 8-bit network that stores results of vector operators in 16 bits.
    auto narrow = one_operator(OpKind::elementwise, Precision::int8, work, 1200, 1200, 0);
    set(m, Parameter::wide_element_bytes, 2);
    CHECK(counted(*narrow, m).events[Event::l2_byte] == 2 * 2400);
    auto product = matmul(40, 36, 10, Precision::int8);
    CHECK(counted(*product, m).events[Event::l2_byte] == 400 + 2 * 1440 + 360);
}

TEST_CASE("CPU: streams share the cache and the memory, one core draws little", "[formulas][cpu]") {
    Machine m = four_cores(false, true);
    set(m, Parameter::resident_fraction, 0.1);
    set(m, Parameter::core_dram_bytes_per_clock, 2);
    set(m, Parameter::llc_bytes_per_clock, 8);
    NetworkWork network;
    network.weight_bytes = 5e4;
    const cpu::View view(m, network);
    Mapping out;
    view.add_traffic(out, {3000, 1000, 5000, 1, 1, 1});
    // Of 4000 bytes in 7000 of the core's own L2 nearly all are near; weights keep to the shared cache: 1e5
    // for 5e4; activations to a tenth of all caches, a fourth of it for each stream.
    const double near = 4000 / (1 + std::pow(4000 / 7000.0, 4));
    const double dram = 5000 / (1 + std::pow(2, 4)) + 4000 / (1 + std::pow(3500 / 4000.0, 2));
    const double crossing = 4000 - near + 5000;
    check_demands(out, {{Resource::l2_bytes, Lane::on_chip, near, 0.25},
                        {Resource::llc_bytes, Lane::on_chip, crossing - dram, 0.25},
                        {Resource::llc_bytes, Lane::on_chip, dram, 0.25 * 2 / 8},
                        {Resource::dram_bytes, Lane::memory, dram}});
}

TEST_CASE("CPU: efficiency cores add their share to the streams", "[formulas][cpu]") {
    Machine m = four_cores(false, true);
    auto device = std::make_shared<Device>(*m.device);
    Engine small = device->engines.front();
    small.count = 6;
    small.clock = fact(0.8e9);
    small.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(16);
    device->engines.push_back(small);
    m.device = device;
    assume(m);
    set(m, Parameter::efficiency_core_share, 0.9);
    const NetworkWork network;
    CHECK(mapper_of("cpu")->map_network(network, m).instances == Approx(4 + 6 * 0.5 * 0.8 * 0.9));
    m.active_fraction = 0.5;
    CHECK(mapper_of("cpu")->map_network(network, m).instances == Approx(2 + 3 * 0.5 * 0.8 * 0.9));
}
