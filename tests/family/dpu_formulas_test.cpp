// Counts of the DPU mapper, each derived by hand from docs/mappers/dpu.md.

#include "family/dpu_cycles.hpp"
#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// Two cores of three handlers, each 4 pixels x 8 x 8 channels; 1024 operations per cycle; 4000 bytes of
/// buffer.
Rig cores() {
    Rig rig(Family("dpu"), 2, 512);
    own(*rig.device, "cores") = fact(2);
    own(*rig.device, "batch_handlers") = fact(3);
    own(*rig.device, "pixel_parallel") = fact(4);
    own(*rig.device, "input_channel_parallel") = fact(8);
    own(*rig.device, "output_channel_parallel") = fact(8);
    rig.set(Parameter::matrix_efficiency, 0.5).set(Parameter::weight_port, 4);
    rig.set(Parameter::layer_cycles, 600).set(Parameter::kernel_overhead, 3e-6);
    return rig.buffer(4000);
}

/// Five images: two rounds of three handlers.
struct Layer {
    Network network{Precision::int8, 5};
    SubgraphWork& work = network.convolution(10, 20, 9, 3);
    Mapping map(const Rig& rig) { return map_one(*mapper_of("dpu"), work, network, rig); }
};

/// An element-wise operator of this type on the 8100 results of the layer.
struct Follower {
    Follower(Layer& layer, const char* type, double operands, double special_ops = 0) {
        layer.network.follow(layer.work, 8100, 8100, special_ops);
        OperatorUse& use = layer.network.uses().of(layer.work).back();
        op = *use.op;
        op.type = type;
        use.op = &op;
        use.input_elements = operands * 8100;
    }
    Operator op;
};

constexpr double kMacs = 5 * 81 * 20 * 90;

} // namespace

TEST_CASE("DPU: a convolution with a sigmoid", "[formulas][dpu]") {
    Layer layer;
    const Follower sigmoid(layer, "Sigmoid", 1, 8100);
    const Mapping m = layer.map(cores());
    // 9 rows x ceil(9 / 4) x 9 taps x ceil(10 / 8) x ceil(20 / 8) = 1458 cycles an image.
    // The narrow engine has half the pixels: 1620 elements on 2 x 8 are ceil(101.25).
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 1458 * 2, 0.5},
                      {Resource::vector_cycles, Lane::compute, 102 * 2},
                      {Resource::weight_bytes, Lane::memory, 1800 * 2},
                      {Resource::matrix_cycles, Lane::on_chip, 1800 * 2 / 12.0}, // three ports of 4 bytes
                      {Resource::seconds, Lane::overhead, 3e-6 * 2 / 3},         // handlers hide each other
                      {Resource::overhead_cycles, Lane::overhead, 600 * 2 / 3.0}});
    const double unfused = 4050 + 1800 + 8100 + 2 * 8100;
    check_events(m.events, {{Precision::int8, kMacs}},
                 {{Event::vector_op, 8100},
                  {Event::special_op, 8100},
                  {Event::l2_byte, unfused},
                  {Event::routing_byte, unfused},
                  // An image's 810 bytes of input fit half of a core's 2000 bytes, 1620 of output do not; the
                  // sigmoid reads and writes them again.
                  {Event::dram_byte, 3600 + 3 * 8100}});
    check_allocation(m, 1, 2, 2, kMacs / 5 / (1458 * 4 * 8 * 8));
    CHECK(m.ideal_cycles == Approx(2 * kMacs / 1024));
    CHECK(std::string(m.allocation.scheme) == "convolution engine");
}

TEST_CASE("DPU: requests in a queue fill every round and share DRAM", "[formulas][dpu]") {
    Layer layer;
    Rig rig = cores();
    rig.options.scenario = Scenario::throughput;
    const Mapping m = layer.map(rig);
    const double rounds = 5 / 3.0;
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 1458 * rounds, 0.5},
                      {Resource::weight_bytes, Lane::memory, 1800 * rounds, 0.5},
                      {Resource::matrix_cycles, Lane::on_chip, 1800 * rounds / 12},
                      {Resource::seconds, Lane::overhead, 3e-6 * rounds / 3},
                      {Resource::overhead_cycles, Lane::overhead, 600 * rounds / 3}});
    check_allocation(m, 2, 2, rounds, kMacs / 5 / (1458 * 4 * 8 * 8));
    Machine half = rig.machine();
    half.active_fraction = 0.5;
    CHECK(mapper_of("dpu")->map_network(layer.network.work(), half).instances == 1);
}

TEST_CASE("DPU: a second tensor is an instruction of its own", "[formulas][dpu]") {
    Layer layer;
    layer.work.extra_bytes = 100;
    CHECK(demand(layer.map(cores()), Resource::overhead_cycles, Lane::overhead) == Approx(2 * 600 * 2 / 3.0));
    // It reads one operand after the other: 2 x 1620 elements of an image on 2 x 8.
    const Follower sum(layer, "Add", 2);
    CHECK(demand(layer.map(cores()), Resource::vector_cycles, Lane::compute) == 203 * 2);
}

TEST_CASE("DPU: convolution engines clamp; a swish is a sigmoid and a product", "[formulas][dpu]") {
    const auto narrow = [](Layer& layer) {
        return demand(layer.map(cores()), Resource::vector_cycles, Lane::compute);
    };
    Layer clamped, hard, spelled;
    const Follower clip(clamped, "Clip", 1);
    CHECK(narrow(clamped) == 0);
    const Follower swish(hard, "HardSwish", 1);
    CHECK(narrow(hard) == (102 + 203) * 2);
    const Follower sigmoid(spelled, "Sigmoid", 1, 8100), product(spelled, "Mul", 2);
    CHECK(narrow(spelled) == narrow(hard));
    Layer bent;
    const Follower tangent(bent, "Tanh", 1, 8100);
    CHECK(narrow(bent) == 102 * 2); // no function is free
    // They work on what lies on the chip.
    CHECK(demand(hard.map(cores()), Resource::overhead_cycles, Lane::overhead) == Approx(600 * 2 / 3.0));
}

TEST_CASE("DPU: a mean over the image runs on the narrow engine", "[formulas][dpu]") {
    Network network(Precision::int8, 5);
    SubgraphWork& s = network.simple(OpKind::reduction, 8000, 8000);
    const Mapping m = map_one(*mapper_of("dpu"), s, network, cores());
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == 100 * 2); // 1600 elements on 2 x 8
    CHECK(demand(m, Resource::overhead_cycles, Lane::overhead) == Approx(600 * 2 / 3.0));
    CHECK(std::string(m.allocation.scheme) == "narrow engine");
}

TEST_CASE("DPU: a normalisation without a product before it is a depthwise convolution of one tap",
          "[formulas][dpu]") {
    Network network(Precision::int8, 5);
    SubgraphWork& alone = network.simple(OpKind::elementwise, 8000, 16000);
    Operator op = *alone.operators[0].op;
    op.type = "BatchNormalization";
    network.uses().of(alone)[0].op = &op;
    const Mapping m = map_one(*mapper_of("dpu"), alone, network, cores());
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == 100 * 2); // 1600 elements on 2 x 8
    CHECK(demand(m, Resource::overhead_cycles, Lane::overhead) == Approx(600 * 2 / 3.0));
    // Beside AI engines a multiplication and an addition for each, at operations per clock of the logic.
    Rig rig = cores();
    own(*rig.device, "aie") = fact(4);
    rig.set(Parameter::depthwise_rate, 20);
    CHECK(demand(map_one(*mapper_of("dpu"), alone, network, rig), Resource::vector_cycles, Lane::on_chip) ==
          Approx(1600 / 10.0 * 2));
    // Behind a product it is part of the weights.
    Layer layer;
    const Follower folded(layer, "BatchNormalization", 1);
    CHECK(demand(layer.map(cores()), Resource::vector_cycles, Lane::compute) == 0);
}

TEST_CASE("DPU: pooling beside products of the same map shows as far as it outlasts them",
          "[formulas][dpu]") {
    Rig rig = cores();
    Network network(Precision::int8, 5);
    network.convolution(10, 20, 9, 1);
    SubgraphWork& pool = network.simple(OpKind::pooling, 4050, 0);
    Operator op = *pool.operators[0].op;
    Window w;
    w.in_channels = w.out_channels = 10;
    w.out = {1, 9, 9};
    w.kernel = {1, 3, 3};
    op.work.window = w;
    network.uses().of(pool)[0].op = &op;
    Partition partition;
    partition.next_reader = {1, 0}; // both read one map
    network.work().partition = &partition;
    const auto narrow = [&] {
        return demand(map_one(*mapper_of("dpu"), pool, network, rig), Resource::vector_cycles, Lane::compute);
    };
    // 9 rows x ceil(9 / 2) x ceil(10 / 8) x 9 taps.
    CHECK(narrow() == 810 * 2);
    own(*rig.device, "alu_engines") = fact(1);
    // 9 rows x ceil(9 / 4) x ceil(10 / 8) x ceil(20 / 8) = 162 at half of the rate.
    CHECK(narrow() == (810 - 324) * 2);
    partition.next_reader = {0, 1};
    CHECK(narrow() == 810 * 2);
}

TEST_CASE("DPU: what only passes over a map waits for DRAM where the map exceeds its buffer",
          "[formulas][dpu]") {
    Rig rig = cores();
    const auto waits = [&](Layer& layer) {
        return demand(layer.map(rig), Resource::dram_bytes, Lane::memory);
    };
    Layer layer, sum, swish;
    sum.work.extra_bytes = 8100;
    const Follower curve(swish, "HardSwish", 1);
    CHECK(waits(sum) == 0); // nothing is known of the buffer
    own(*rig.device, "feature_buffer") = fact(1000);
    // An image's 810 bytes of input stay on the chip, 1620 of output do not: a product hides what they take.
    CHECK(waits(layer) == 0);
    CHECK(layer.map(rig).events[Event::dram_byte] == 3600 + 8100);
    CHECK(waits(sum) == 2 * 8100); // the second map read, the sum written
    // The sigmoid reads and writes it, the product reads it and its factor and writes once more.
    CHECK(waits(swish) == 5 * 8100);
    rig.options.scenario = Scenario::throughput; // two cores share the DRAM
    for (const Demand& d : sum.map(rig).all())
        if (d.resource == Resource::dram_bytes)
            CHECK(d.efficiency == 0.5);
    own(*rig.device, "feature_buffer") = fact(2000);
    CHECK(waits(sum) == 0);
}

TEST_CASE("DPU: copies go through DRAM", "[formulas][dpu]") {
    Network network;
    SubgraphWork& s = network.simple(OpKind::data_movement, 700, 0);
    const Mapping m = map_one(*mapper_of("dpu"), s, network, cores());
    check_demands(m, {{Resource::dram_bytes, Lane::memory, 1400}});
    check_events(m.events, {},
                 {{Event::dram_byte, 1400}, {Event::l2_byte, 1400}, {Event::routing_byte, 1400}});
    // A look-up's rows grow with the images already: two rounds do not read them twice.
    Network images(Precision::int8, 5);
    SubgraphWork& look_up = images.simple(OpKind::data_movement, 700, 0);
    look_up.weight_bytes = 300;
    CHECK(demand(map_one(*mapper_of("dpu"), look_up, images, cores()), Resource::weight_bytes,
                 Lane::memory) == 300);
}

TEST_CASE("DPU: AI engines beside the logic", "[formulas][dpu]") {
    Rig rig = cores();
    own(*rig.device, "aie") = fact(4);
    own(*rig.device, "pl_clock") = fact(2.5e8); // a quarter of the clock
    rig.set(Parameter::depthwise_rate, 20).set(Parameter::pooling_rate, 10);
    Layer layer;
    const Follower sigmoid(layer, "Sigmoid", 1, 8100); // applied by the engines, in its hard form
    const Mapping m = layer.map(rig);
    // Columns 9 -> 12, channels 10 -> 16 and 20 -> 24, all engines of a core on three images: 3 x 2 x 2 MACs
    // / 1024.
    const double padded = 9 * 12 * 9 * 16 * 24;
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 2 * padded * 3 * 2 / 1024.0 * 2, 0.5},
                      {Resource::weight_bytes, Lane::memory, 3600},
                      {Resource::seconds, Lane::overhead, 3e-6 * 2},
                      {Resource::overhead_cycles, Lane::overhead, 600 * 2}});
    CHECK(m.allocation.useful_fraction == 1);
    CHECK(std::string(m.allocation.scheme) == "AI engines");
    // Pooling of 2 x 2 over 5 x 5 results of 20 channels: 2000 taps at 10 per clock of the logic.
    Network one;
    SubgraphWork& pool = one.simple(OpKind::pooling, 2000, 0);
    Operator op = *pool.operators[0].op;
    Window w;
    w.in_channels = w.out_channels = 20;
    w.out = {1, 5, 5};
    w.kernel = {1, 2, 2};
    op.work.window = w;
    one.uses().of(pool)[0].op = &op;
    CHECK(demand(map_one(*mapper_of("dpu"), pool, one, rig), Resource::vector_cycles, Lane::on_chip) ==
          Approx(2000 / 10.0 * 4));
}

TEST_CASE("DPU: loop nests over volumes, groups and batches", "[formulas][dpu]") {
    const dpu::Parallelism p{4, 8, 8, 2};
    Window w;
    w.in_channels = 20;
    w.out_channels = 36;
    w.groups = 2;
    w.in = {3, 6, 7};
    w.out = {2, 5, 9};
    w.kernel = {2, 3, 1};
    // 2 x 5 rows of ceil(9 / 4), 6 taps of ceil(10 / 8), ceil(18 / 8) outputs, 2 groups.
    CHECK(dpu::convolution_cycles(w, p) == 10 * 3 * (6 * 2) * 3 * 2);
    w.transposed = true; // every input pixel once: 3 x 6 rows of ceil(7 / 4)
    CHECK(dpu::convolution_cycles(w, p) == 18 * 2 * (6 * 2) * 3 * 2);
    w.transposed = false;
    // Channels: 2 x 5 rows of ceil(9 / 2), ceil(36 / 8), 6 taps.
    CHECK(dpu::window_cycles(w, p) == 10 * 5 * 5 * 6);
    // Three channels in rows of five taps: ceil(15 / 8) steps for each of 2 x 3 rows instead of 2 x 3 x 5.
    Window image;
    image.in_channels = 3;
    image.out_channels = 8;
    image.out = {1, 1, 4};
    image.kernel = {2, 3, 5};
    CHECK(dpu::convolution_cycles(image, p) == 2 * 3 * 2);
    // Four channels are half the parallelism already, and 3 x 6 taps are more than two blocks hold.
    image.in_channels = 4;
    CHECK(dpu::convolution_cycles(image, p) == 2 * 3 * 5);
    image.in_channels = 3;
    image.kernel = {1, 1, 6};
    CHECK(dpu::convolution_cycles(image, p) == 6);
    Contraction c;
    c.groups = 6;
    c.m = 20;
    c.n = 9;
    c.k = 17;
    CHECK(dpu::product_cycles(c, 2, p) == 6 * 3 * 3 * 2); // two images of 10 rows
    c.weights_constant = false;
    CHECK(dpu::product_cycles(c, 2, p) == 3 * 5 * 3 * 2); // three products an image
    CHECK(dpu::element_cycles(100, p) == 7);
}
