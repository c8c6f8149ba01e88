// Counts of the CPU mapper in 8-bit networks and on matrix units that cores share, each derived by hand from
// docs/mappers/cpu.md.

#include "family/cpu_machines.hpp"
#include "family/cpu_view.hpp"

#include <array>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("CPU: 8-bit depthwise convolutions widen channels that fill no vector of 16", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::widened_depthwise_cycles, 5);
    const auto cycles = [&](double channels, Precision precision) {
        auto one = convolution(1, channels, channels, 8, 3, channels, precision);
        double sum = 0;
        for (const Demand& d : counted(*one, m).all())
            if (d.resource == Resource::vector_cycles)
                sum += d.amount;
        return sum;
    };
    // 72 channels are 5 vectors, times 64 pixels and 9 taps, on four cores.
    CHECK(cycles(72, Precision::int8) == Approx(5 * 5 * 64 * 9 / 4.0));
    CHECK(cycles(64, Precision::int8) == Approx(cycles(64, Precision::fp32)));
    CHECK(cycles(72, Precision::fp32) < cycles(72, Precision::int8));
}

TEST_CASE("CPU: what an 8-bit network runs on one thread takes as long on four cores", "[formulas][cpu]") {
    Machine m = four_cores();
    auto runtime = std::make_shared<Runtime>(*m.runtime);
    runtime->integer_operators = {"Sigmoid"};
    runtime->one_thread_operators = {"Erf", "DequantizeLinear"};
    m.runtime = runtime;
    set(m, Parameter::error_function_cycles, 37);
    set(m, Parameter::conversion_cycles, 11);
    OperatorWork work;
    work.vector_ops = work.special_ops = 1200;
    const auto cycles = [&](std::string type, Precision precision) {
        auto one = one_operator(OpKind::elementwise, precision, work, 1200, 1200, 0);
        one->op.type = std::move(type);
        double sum = 0;
        for (const Demand& d : counted(*one, m).all())
            if (d.resource == Resource::vector_cycles)
                sum += d.amount;
        return sum;
    };
    // 150 vectors of 8: read as floats on one core, computed there, written by four (38 each).
    CHECK(cycles("Erf", Precision::int8) == Approx(11 * 150 + 37 * 150 + 11 * 38));
    CHECK(cycles("Erf", Precision::fp32) == Approx(37 * 38)); // a network of floats runs it on all
    // An activation with an 8-bit kernel is looked up, scaled as the table is.
    set(m, Parameter::lookup_cycles, 0.75);
    CHECK(cycles("Sigmoid", Precision::int8) == Approx(0.75 * 1200 / 4));
}

TEST_CASE("CPU: kernels scale their 8-bit results in registers", "[formulas][cpu]") {
    Machine m = four_cores();
    const auto added = [&](OneOperator& one) {
        const auto cycles = [&] {
            double sum = 0;
            for (const Demand& d : counted(one, m).all())
                if (d.resource == Resource::vector_cycles)
                    sum += d.amount;
            return sum;
        };
        set(m, Parameter::scaling_cycles, 0);
        const double before = cycles();
        set(m, Parameter::scaling_cycles, 5);
        return cycles() - before;
    };
    // 10 x 10 pixels of 16 channels, 200 vectors of 8 on four cores, dense and depthwise alike.
    auto window = convolution(1, 16, 16, 10, 3, 1, Precision::int8);
    auto depthwise = convolution(1, 16, 16, 10, 3, 16, Precision::int8);
    CHECK(added(*window) == Approx(5 * 200 / 4.0));
    CHECK(added(*depthwise) == Approx(5 * 200 / 4.0));
    auto product = matmul(40, 36, 10, Precision::int8);
    CHECK(added(*product) == Approx(5 * 1440 / 32.0));
    auto floats = matmul(40, 36, 10, Precision::fp32);
    CHECK(added(*floats) == 0);
}

TEST_CASE("CPU: sums of a normalisation may wait for each other", "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::ordered_sum_cycles, 3);
    set(m, Parameter::transcendental_cycles, 10);
    const auto cycles = [&](double roots) {
        OperatorWork work;
        work.vector_ops = 6 * 3200;
        work.special_ops = roots;
        auto one = one_operator(OpKind::normalization, Precision::fp32, work, 3200, 3200, 0);
        double sum = 0;
        for (const Demand& d : counted(*one, m).all())
            if (d.resource == Resource::vector_cycles)
                sum += d.amount;
        return sum;
    };
    CHECK(cycles(20) == Approx(3 * 3200 / 4.0));
    CHECK(cycles(0) == Approx(10 * 3200 / 32.0)); // scaling by constants sums nothing
}

TEST_CASE("CPU: images change their layout between convolutions and what knows the plain one",
          "[formulas][cpu]") {
    Machine m = four_cores();
    set(m, Parameter::relayout_cycles, 6);
    const auto added = [&](Precision precision) {
        auto one = convolution(1, 16, 16, 10, 3, 1, precision);
        const auto cycles = [&] {
            double sum = 0;
            for (const Demand& d : counted(*one, m).all())
                if (d.resource == Resource::vector_cycles)
                    sum += d.amount;
            return sum;
        };
        const double before = cycles();
        one->work().relaid_elements = 2 * 1600;
        return cycles() - before;
    };
    CHECK(added(Precision::fp32) == Approx(6 * 400 / 4.0)); // 3,200 elements in vectors of 8
    CHECK(added(Precision::int8) == 0);
}

TEST_CASE("CPU: attention of 8-bit networks multiplies in the float that they store", "[formulas][cpu]") {
    Machine m = four_cores(true);
    NetworkWork network;
    network.precision = PrecisionConfig::uniform(Precision::int8);
    const auto unit = [&](OpKind kind) { return cpu::View(m, network).unit(Precision::int8, kind); };
    CHECK(unit(OpKind::attention).ops_per_cycle == 128); // as stored: 8-bit dot products
    set(m, Parameter::wide_element_bytes, 2);
    CHECK(unit(OpKind::attention).matrix);
    CHECK(unit(OpKind::attention).ops_per_cycle == 512); // bf16 tiles
    CHECK_FALSE(unit(OpKind::matmul).matrix);
    set(m, Parameter::wide_element_bytes, 4);
    CHECK_FALSE(unit(OpKind::attention).matrix);
    CHECK(unit(OpKind::attention).ops_per_cycle == 32);
}

TEST_CASE("CPU: what an 8-bit network costs beside its products", "[formulas][cpu]") {
    Machine m = four_cores();
    const auto cycles = [&](OneOperator& one) {
        double sum = 0;
        for (const Demand& d : counted(one, m).all())
            if (d.resource == Resource::vector_cycles)
                sum += d.amount;
        return sum;
    };
    const auto added = [&](OneOperator& one, Parameter parameter, double value) {
        const double before = cycles(one);
        set(m, parameter, value);
        return cycles(one) - before;
    };
    // Sums into 8-bit results: 40 x 36 elements in vectors of 8 on four cores, 7 cycles each.
    auto product = matmul(40, 36, 10, Precision::int8);
    CHECK(added(*product, Parameter::conversion_cycles, 7) == Approx(7 * 1440 / 32.0));
    // Columns: 10 x 10 pixels times three rows of taps, 40 cycles each, where the channels are no multiple of
    // 4; then the 100 x 16 sums, 200 vectors, are scaled too. Whole steps of channels are read through
    // pointers and scaled in registers.
    auto window = convolution(1, 18, 16, 10, 3, 1, Precision::int8);
    auto whole = convolution(1, 16, 16, 10, 3, 1, Precision::int8);
    auto point = convolution(1, 16, 16, 10, 1, 1, Precision::int8);
    const double without = cycles(*point), pointers = cycles(*whole);
    CHECK(added(*window, Parameter::unfold_cycles, 40) == Approx(40 * 300 / 4.0));
    set(m, Parameter::conversion_cycles, 0);
    CHECK(added(*window, Parameter::conversion_cycles, 7) == Approx(7 * 200 / 4.0));
    CHECK(cycles(*point) == Approx(without));
    CHECK(cycles(*whole) == Approx(pointers));
    // fp32 networks pay neither.
    auto wide = convolution(1, 16, 16, 10, 3, 1, Precision::fp32);
    const double floats = cycles(*wide);
    set(m, Parameter::unfold_cycles, 0);
    set(m, Parameter::conversion_cycles, 0);
    CHECK(cycles(*wide) == Approx(floats));
    // An operator without an 8-bit kernel converts what it reads and writes, and moves four bytes an element.
    OperatorWork work;
    work.vector_ops = 1200;
    auto sum = one_operator(OpKind::elementwise, Precision::int8, work, 1200, 1200, 0);
    sum->op.type = "Add";
    auto runtime = std::make_shared<Runtime>(*m.runtime);
    runtime->integer_operators = {"Add"};
    m.runtime = runtime;
    // 150 vectors: two of the four cores take 38.
    CHECK(added(*sum, Parameter::conversion_cycles, 7) == Approx(7 * 38));
    CHECK(counted(*sum, m).events[Event::l2_byte] == 2400);
    sum->op.type = "Erf";
    set(m, Parameter::conversion_cycles, 0);
    CHECK(added(*sum, Parameter::conversion_cycles, 7) == Approx(7 * 2 * 38));
    CHECK(counted(*sum, m).events[Event::l2_byte] == 4 * 2400);
    // A concatenation brings its 1200 elements, 150 vectors, to one scale; other moves keep the one they
    // find.
    auto join = one_operator(OpKind::data_movement, Precision::int8, work, 1200, 1200, 0);
    join->op.type = "Concat";
    set(m, Parameter::conversion_cycles, 0);
    CHECK(added(*join, Parameter::conversion_cycles, 7) == Approx(7 * 38));
    join->op.type = "Transpose";
    set(m, Parameter::conversion_cycles, 0);
    CHECK(added(*join, Parameter::conversion_cycles, 7) == 0);
    // Kernels that compute one result at a time do not use the lanes.
    auto pool = one_operator(OpKind::pooling, Precision::int8, work, 4800, 1200, 0);
    pool->op.type = "AveragePool";
    set(m, Parameter::average_pooling_cycles, 30);
    CHECK(cycles(*pool) == Approx(30 * 1200 / 4.0));
    auto softmax = one_operator(OpKind::softmax, Precision::int8, work, 1200, 1200, 0);
    softmax->op.type = "Softmax";
    set(m, Parameter::conversion_cycles, 0);
    set(m, Parameter::integer_softmax_cycles, 20);
    CHECK(cycles(*softmax) == Approx(20 * 1200 / 4.0));
}

namespace {

/// The four cores share a unit of 64-byte registers, 512 operations per clock in fp32, at `ratio` of their
/// clock; the stack has kernels for it unless told otherwise.
Machine shared_unit(double depth_bytes, double ratio = 1, bool streams = false, bool kernels = true) {
    Machine m = four_cores(false, streams);
    auto device = std::make_shared<Device>(*m.device);
    device->clock_boost = fact(1e9);
    own(*device, "matrix_operand_bytes") = fact(64);
    own(*device, "matrix_depth_bytes") = fact(depth_bytes);
    Engine unit;
    unit.kind = EngineClass::matrix;
    unit.count = 1;
    unit.isa = "outer";
    unit.shared = true;
    unit.clock = fact(1e9 * ratio);
    for (const Precision p : {Precision::fp64, Precision::fp32, Precision::fp16})
        unit.ops_per_clock[static_cast<std::size_t>(p)] = fact(4096 / bits_of(p) * 4.0);
    device->engines.push_back(unit);
    m.device = device;
    assume(m);
    auto runtime = std::make_shared<Runtime>(*m.runtime);
    if (kernels)
        runtime->instruction_sets = {"Outer"};
    m.runtime = runtime;
    return m;
}

} // namespace

TEST_CASE("CPU: a matrix unit that the cores share multiplies once for all", "[formulas][cpu]") {
    // 40 x 36 x 50 in fp32, outer products of 16 x 16: 48 x 48 x 50 on the one unit, whatever the cores.
    Machine m = shared_unit(1);
    set(m, Parameter::matrix_efficiency, 0.8);
    set(m, Parameter::operand_replication, 1);
    auto one = matmul(40, 36, 50, Precision::fp32);
    const Mapping out = counted(*one, m);
    const double macs = 72000, padded = 48 * 48 * 50, products = macs / 256;
    const Demand* cycles = demand_on(out, Resource::matrix_cycles);
    REQUIRE(cycles != nullptr);
    CHECK(cycles->amount == Approx(2 * padded / 512));
    CHECK(cycles->efficiency == Approx(0.8));
    CHECK(demand_on(out, Resource::vector_cycles) == nullptr);
    CHECK(out.ideal_cycles == Approx(2 * macs / 512));
    // Two operands of 64 bytes, 256 accumulators of four bytes read and written.
    CHECK(out.events[Event::register_byte] == Approx(products * 2 * (64 + 1024)));
    // No copies for the cores: every byte is read once.
    CHECK(out.events[Event::l2_byte] == Approx(4 * (40 * 50 + 50 * 36 + 40 * 36)));
}

TEST_CASE("CPU: a stack may have kernels for a matrix unit in products alone", "[formulas][cpu]") {
    Machine m = shared_unit(1);
    const auto on = [&](Resource resource, OneOperator& one) {
        return demand_on(counted(one, m), resource) != nullptr;
    };
    auto product = matmul(40, 36, 50, Precision::fp32);
    auto window = convolution(1, 16, 16, 10, 3, 1, Precision::fp32);
    CHECK(on(Resource::matrix_cycles, *product));
    CHECK(on(Resource::matrix_cycles, *window)); // nothing is said of convolutions: they reach it, too
    auto runtime = std::make_shared<Runtime>(*m.runtime);
    runtime->convolution_instruction_sets.emplace();
    m.runtime = runtime;
    CHECK(on(Resource::matrix_cycles, *product));
    CHECK_FALSE(on(Resource::matrix_cycles, *window));
    CHECK(on(Resource::vector_cycles, *window));
    runtime->convolution_instruction_sets->emplace_back("outer");
    CHECK(on(Resource::matrix_cycles, *window));
}

TEST_CASE("CPU: shapes of outer products follow the format and the depth", "[formulas][cpu]") {
    const NetworkWork network;
    const auto shape = [&](double depth, Precision p) {
        const Machine m = shared_unit(depth);
        const auto unit = cpu::View(m, network).unit(p, OpKind::matmul);
        REQUIRE(unit.matrix);
        return std::array{unit.m_step, unit.n_step, unit.k_step, unit.macs_per_instruction};
    };
    CHECK(shape(1, Precision::fp64) == std::array{8.0, 8.0, 1.0, 64.0}); // one element deep
    CHECK(shape(1, Precision::fp32) == std::array{16.0, 16.0, 1.0, 256.0});
    CHECK(shape(1, Precision::fp16) == std::array{32.0, 32.0, 1.0, 1024.0});
    CHECK(shape(4, Precision::fp64) == std::array{8.0, 8.0, 1.0, 64.0}); // four bytes deep
    CHECK(shape(4, Precision::fp32) == std::array{16.0, 16.0, 1.0, 256.0});
    CHECK(shape(4, Precision::fp16) == std::array{16.0, 16.0, 2.0, 512.0});
}

TEST_CASE("CPU: a shared unit has its own clock, streams take turns, and stacks need its kernels",
          "[formulas][cpu]") {
    const NetworkWork network;
    const auto unit = [&](const Machine& m) {
        return cpu::View(m, network).unit(Precision::fp32, OpKind::matmul);
    };
    CHECK(unit(shared_unit(1)).ops_per_cycle == Approx(512));
    CHECK(unit(shared_unit(1, 0.75)).ops_per_cycle == Approx(384)); // in cycles of the cores
    CHECK(unit(shared_unit(1, 1, true)).ops_per_cycle == Approx(128));
    CHECK(unit(shared_unit(1, 1, true)).units == 1);
    CHECK_FALSE(unit(shared_unit(1, 1, false, false)).matrix);
    CHECK(unit(shared_unit(1, 1, false, false)).ops_per_cycle == 32);
}

TEST_CASE("CPU: 32-bit sums of 8-bit products pass through memory where the stack keeps them in a buffer",
          "[formulas][cpu]") {
    Machine m = four_cores();
    const auto moved = [&](OneOperator& one) {
        double sum = 0;
        for (const Demand& d : counted(one, m).all())
            if (d.resource == Resource::l2_bytes || d.resource == Resource::llc_bytes ||
                d.resource == Resource::dram_bytes)
                sum += d.amount;
        return sum;
    };
    auto product = matmul(40, 36, 10, Precision::int8);
    auto floats = matmul(40, 36, 10, Precision::fp32);
    auto window = convolution(1, 16, 16, 10, 3, 1, Precision::int8);
    const double before = moved(*product), of_floats = moved(*floats), of_window = moved(*window);
    set(m, Parameter::product_sum_bytes, 8);
    CHECK(moved(*product) - before == Approx(8 * 40 * 36));
    CHECK(moved(*floats) == Approx(of_floats));
    CHECK(moved(*window) == Approx(of_window)); // scaled tile by tile
}
