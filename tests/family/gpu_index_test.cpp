// What kernels of a framework spend on finding elements, on short rows of reductions and on biases of
// convolutions, and heads padded to the widths that kernels are made for, each derived by hand from
// docs/mappers/gpu.md, on the machine of gpu_ten_units.hpp.

#include "family/gpu_ten_units.hpp"
#include "map/expected_counts.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

ShapedTensor tensor(std::int64_t elements) {
    ShapedTensor t;
    t.shape = {elements};
    return t;
}

/// An element-wise operator of 1000 results whose second operand has `second` elements.
std::unique_ptr<OneOperator> of_two(std::int64_t second) {
    auto one = one_operator(OpKind::elementwise, Precision::fp16, OperatorWork{}, 1000, 1000, 0);
    one->graph.tensors = {tensor(1000), tensor(second), tensor(1000)};
    one->op.inputs = {0, 1};
    one->op.outputs = {2};
    return one;
}

Machine with_index(double operations) {
    Machine m = ten_units();
    set(m, Parameter::index_operations, operations);
    return m;
}

double amount(const Mapping& mapping, Resource resource, Lane lane) {
    double sum = 0;
    for (const Demand& d : mapping.all())
        if (d.resource == resource && d.lane == lane)
            sum += d.amount;
    return sum;
}

double on_lanes(OneOperator& one, const Machine& m) {
    return amount(counted(one, m), Resource::vector_cycles, Lane::compute);
}

} // namespace

TEST_CASE("GPU: operands that are broadcast or widened are looked up element by element", "[formulas][gpu]") {
    // A lane's operation takes 2 of the 1280 that the device counts a cycle: 1000 elements of 64 are 100
    // cycles.
    auto row = of_two(10);
    CHECK(on_lanes(*row, with_index(64)) == Approx(100));
    CHECK(on_lanes(*row, ten_units()) == 0); // a stack that states nothing
    auto alike = of_two(1000);
    CHECK(on_lanes(*alike, with_index(64)) == 0);
    auto scalar = of_two(1);
    CHECK(on_lanes(*scalar, with_index(64)) == 0);

    auto& use = alike->uses.of(alike->work()).front();
    use.read_bytes = 2 * use.input_elements;
    use.written_bytes = 4 * use.output_elements;
    CHECK(on_lanes(*alike, with_index(64)) == Approx(100));
    auto& both = row->uses.of(row->work()).front();
    both.read_bytes = 2 * both.input_elements;
    both.written_bytes = 4 * both.output_elements;
    CHECK(on_lanes(*row, with_index(64)) == Approx(200));
    both.read_bytes = 4 * both.input_elements; // narrows: a kernel of its own
    both.written_bytes = 2 * both.output_elements;
    CHECK(on_lanes(*row, with_index(64)) == Approx(100));
}

TEST_CASE("GPU: what lanes of integers do takes energy, however few they are", "[formulas][gpu][energy]") {
    auto row = of_two(10);
    const Mapping without = counted(*row, ten_units()), with = counted(*row, with_index(64));
    CHECK(with.events[Event::vector_op] - without.events[Event::vector_op] == Approx(64 * 1000));
    CHECK(with.events[Event::instruction] - without.events[Event::instruction] == Approx(64 * 1000 / 32.0));
    // Half of the lanes of floats, 32 of 64, take twice as long over the same work.
    Machine half = with_index(64);
    auto device = std::make_shared<Device>(*half.device);
    own(*device, "integer_lanes") = fact(32);
    half.device = device;
    CHECK(on_lanes(*row, half) == Approx(200));
    CHECK(counted(*row, half).events[Event::vector_op] == with.events[Event::vector_op]);
    // So do biases that kernels of their own add.
    auto one = convolution(1, 16, 16, 10, 3, 1, Precision::fp16);
    one->op.inputs = {0, 1, 2};
    Machine m = with_index(64);
    const double unbiased = counted(*one, m).events[Event::vector_op];
    set(m, Parameter::convolution_bias_kernel, 1);
    const Mapping slow = counted(*one, m);
    CHECK(slow.events[Event::vector_op] - unbiased == Approx(64 * 1600));
    // Bytes that lanes hide are moved all the same: of few operations they show, of many they do not.
    set(m, Parameter::index_operations, 1);
    CHECK(counted(*one, m).events[Event::dram_byte] == Approx(slow.events[Event::dram_byte]));
}

TEST_CASE("GPU: groups of channels are read twice, and both times looked up", "[formulas][gpu]") {
    auto one = one_operator(OpKind::normalization, Precision::fp16, OperatorWork{}, 1000, 1000, 0);
    const auto dram = [&](const char* type) {
        one->op.type = type;
        const Mapping m = counted(*one, with_index(64));
        return std::pair(amount(m, Resource::vector_cycles, Lane::compute),
                         amount(m, Resource::dram_bytes, Lane::memory));
    };
    CHECK(dram("LayerNormalization") == std::pair(0.0, 4000.0));
    CHECK(dram("GroupNormalization") == std::pair(200.0, 6000.0));
}

TEST_CASE("GPU: every result of a reduction costs cycles of a multiprocessor", "[formulas][gpu]") {
    auto one = one_operator(OpKind::reduction, Precision::fp16, OperatorWork{}, 64000, 1000, 0);
    Machine m = ten_units();
    set(m, Parameter::reduction_row_cycles, 50);
    CHECK(amount(counted(*one, m), Resource::overhead_cycles, Lane::compute) == Approx(1000 * 50 / 10.0));
    CHECK(amount(counted(*one, ten_units()), Resource::overhead_cycles, Lane::compute) == 0);
}

TEST_CASE("GPU: a kernel of its own adds the bias of a convolution where the stack says so",
          "[formulas][gpu]") {
    auto one = convolution(1, 16, 16, 10, 3, 1, Precision::fp16);
    Machine m = with_index(64);
    set(m, Parameter::convolution_bias_kernel, 1);
    const auto floors = [&] { return amount(counted(*one, m), Resource::overhead_cycles, Lane::overhead); };
    CHECK(floors() == 6000); // it has no bias
    one->op.inputs = {0, 1, 2};
    CHECK(floors() == 6000 + 3000);
    // 1600 results of 64 operations are 160 cycles, more than 6.4 of memory.
    CHECK(amount(counted(*one, m), Resource::vector_cycles, Lane::overhead) == Approx(160));
    CHECK(amount(counted(*one, m), Resource::dram_bytes, Lane::overhead) == 0);
    set(m, Parameter::index_operations, 1); // 2.5 cycles, less than the 6.4 of 6400 bytes
    CHECK(amount(counted(*one, m), Resource::vector_cycles, Lane::overhead) == 0);
    CHECK(amount(counted(*one, m), Resource::dram_bytes, Lane::overhead) == Approx(6400));
}

TEST_CASE("GPU: heads are padded to the widths that attention kernels are made for", "[formulas][gpu]") {
    OperatorWork work;
    AttentionShape a;
    a.batch = 1;
    a.heads = a.kv_heads = 10;
    a.query_length = a.kv_length = 64;
    a.head_size = a.value_size = 72;
    work.attention = a;
    work.macs = 10.0 * 64 * 64 * 144;
    auto one = one_operator(OpKind::attention, Precision::fp16, work, 5000, 2000, 0);
    Machine m = ten_units();
    set(m, Parameter::attention_efficiency, 0.5);
    const double narrow = demand_on(counted(*one, m), Resource::matrix_cycles)->amount;
    set(m, Parameter::attention_head_step, 32);
    CHECK(demand_on(counted(*one, m), Resource::matrix_cycles)->amount == Approx(narrow * 96 / 72));
}
