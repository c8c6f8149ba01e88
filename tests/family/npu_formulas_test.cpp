// Counts of the NPU mapper, each derived by hand from docs/mappers/npu.md.

#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// Four cores of 512 operations per cycle, two to an inference, in blocks of 8 channels. The vector unit does
/// 0.1 x 2048 x 0.8 = 163.84 operations per cycle on all cores.
Rig npu_cores() {
    Rig rig(Family("npu"), 4, 512);
    own(*rig.device, "cores") = fact(4);
    own(*rig.device, "sram") = fact(6000);
    own(*rig.device, "on_chip_weights") = fact(450);
    rig.set(Parameter::cores_per_inference, 2).set(Parameter::channel_block, 8);
    rig.set(Parameter::matrix_efficiency, 0.8).set(Parameter::vector_efficiency, 0.5);
    rig.set(Parameter::vector_per_matrix, 0.1).set(Parameter::drain_cost, 2);
    rig.set(Parameter::spill_share, 0.25).set(Parameter::inference_overhead, 1e-4);
    rig.set(Parameter::kernel_overhead, 3e-6).set(Parameter::layer_cycles, 5);
    return rig;
}

constexpr double kNpuMacs = 3 * 81 * 9 * 10 * 20, kPadded = 3 * 81 * 9 * 16 * 24;

} // namespace

TEST_CASE("NPU: three images on two pairs of cores", "[formulas][npu]") {
    Network network(Precision::int8, 3);
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    s.kv_bytes = 90; // of the 2430 bytes of input
    const Mapping m = map_one(*mapper_of("npu"), s, network, npu_cores());
    // One pair has two images: 1.5 pairs are busy on average, 512 x 2 x 1.5 operations per cycle.
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 2 * kPadded / 1536, 0.8},
                      // 4860 bytes drain on 163.84 / 2 x 1.5 operations per cycle.
                      {Resource::vector_cycles, Lane::compute, 2 * 4860 / 122.88, 0.5},
                      {Resource::seconds, Lane::overhead, 3e-6},
                      {Resource::overhead_cycles, Lane::overhead, 5},
                      // 450 of 1800 weight bytes lie on the chip.
                      {Resource::weight_bytes, Lane::memory, 1800 * 0.75 + 90},
                      // 7290 bytes of activations in a buffer of 6000: a quarter of them spills.
                      {Resource::dram_bytes, Lane::memory, 0.25 * (7290 - 90)}});
    check_events(
        m.events, {{Precision::int8, kNpuMacs}},
        {{Event::l2_byte, 7290 + 1800}, {Event::systolic_hop, 7290}, {Event::dram_byte, 1350 + 90 + 1800}});
    check_allocation(m, 4, 4, 0, kNpuMacs / kPadded);
    CHECK(m.ideal_cycles == Approx(2 * kNpuMacs / 2048));
}

TEST_CASE("NPU: requests keep both pairs busy and share the fixed times", "[formulas][npu]") {
    Network network(Precision::int8, 3);
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    Rig rig = npu_cores();
    rig.options.scenario = Scenario::throughput;
    const Mapping m = map_one(*mapper_of("npu"), s, network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(2 * kPadded / 2048 / 0.8));
    CHECK(demand(m, Resource::seconds, Lane::overhead) == Approx(1.5e-6));
    CHECK(demand(mapper_of("npu")->map_network(network.work(), rig.machine()).fixed, Resource::seconds,
                 Lane::overhead) == Approx(0.5e-4));
    Machine half = rig.machine(); // a mode with half of the cores: one pair
    half.active_fraction = 0.5;
    Mapping out;
    mapper_of("npu")->map(s, network.work(), half, out);
    CHECK(out.allocation.units_total == 2);
    CHECK(demand(out, Resource::seconds, Lane::overhead) == Approx(3e-6));
}

TEST_CASE("NPU: a single request takes four of six cores, many requests take all", "[formulas][npu]") {
    Network network(Precision::int8, 3);
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    Rig rig(Family("npu"), 6, 512);
    own(*rig.device, "cores") = fact(6);
    rig.set(Parameter::cores_per_inference, 4).set(Parameter::channel_block, 8);
    rig.set(Parameter::matrix_efficiency, 0.8);
    const auto matrix_cycles = [&] {
        return demand(map_one(*mapper_of("npu"), s, network, rig), Resource::matrix_cycles, Lane::compute);
    };
    CHECK(matrix_cycles() == Approx(2 * kPadded / (4 * 512) / 0.8));
    rig.options.scenario = Scenario::throughput;
    CHECK(matrix_cycles() == Approx(2 * kPadded / (6 * 512) / 0.8));
}

TEST_CASE("NPU: weights stay in what the activations leave of the buffer", "[formulas][npu]") {
    Network network;
    SubgraphWork& s = network.convolution(10, 20, 9, 3); // 2430 bytes of activations, 1800 of weights
    Rig rig = npu_cores();
    own(*rig.device, "on_chip_weights") = {};
    own(*rig.device, "sram") = fact(6000); // 3000 of a pair
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::weight_bytes, Lane::memory) == 1800);
    rig.set(Parameter::weight_residency, 1);
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::weight_bytes, Lane::memory) ==
          Approx(1800 - (3000 - 2430)));
    own(*rig.device, "sram") = fact(4000); // a pair's half is less than the activations
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::weight_bytes, Lane::memory) == 1800);
}

TEST_CASE("NPU: arrays without a block per tap flatten the taps, depthwise runs at its share",
          "[formulas][npu]") {
    Network network;
    Rig rig = npu_cores();
    std::erase_if(rig.runtime->parameters,
                  [](const ParameterEntry& entry) { return entry.parameter == Parameter::channel_block; });
    own(*rig.device, "array_rows") = fact(16);
    own(*rig.device, "array_cols") = fact(6);
    rig.set(Parameter::depthwise_efficiency, 0.2).set(Parameter::drain_cost, 0);
    // K = 90 -> 96, N = 20 -> 24 on two cores.
    const Mapping dense = map_one(*mapper_of("npu"), network.convolution(10, 20, 9, 3), network, rig);
    CHECK(demand(dense, Resource::matrix_cycles, Lane::compute) == Approx(2 * 81 * 96 * 24 / 1024.0 / 0.8));
    CHECK(dense.allocation.useful_fraction == Approx(90 * 20 / (96 * 24.0)));
    CHECK(dense.allocation.units_used == 2);
    const Mapping deep = map_one(*mapper_of("npu"), network.convolution(10, 10, 9, 3, 10), network, rig);
    CHECK(demand(deep, Resource::matrix_cycles, Lane::compute) == Approx(2 * 81 * 90 / 1024.0 / 0.2));
    CHECK(deep.allocation.useful_fraction == 1);
}

TEST_CASE("NPU: layers of a pipeline wait for the rows they need", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.device->dram.reset();
    family_fact<bool>(*rig.device, "dataflow_pipeline") = true;
    own(*rig.device, "on_chip_weights") = fact(1e5);
    rig.set(Parameter::frame_interval, 1e-3).set(Parameter::matrix_efficiency, 0.5);
    Network network(Precision::int8, 2);
    SubgraphWork& s = network.convolution(4, 4, 10, 3);
    network.convolution(4, 8, 10, 3);
    const double macs = 2 * 100 * 9 * 4 * 4; // of three times as many
    // The second axis of the kernel dilated by 2 reaches over five rows, two of them padding: three of ten.
    // The interval of one image is that of all layers.
    Operator op = *s.operators[0].op;
    op.work.window->dilation = {1, 2, 1};
    network.uses().of(s)[0].op = &op;
    const Mapping m = map_one(*mapper_of("npu"), s, network, rig);
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 2 * macs / 1000, 0.5}, // not padded
                      {Resource::seconds, Lane::on_chip, 1e-3 * 2 / 3},
                      {Resource::matrix_cycles, Lane::overhead, 2 * 3 * macs / 2 / 1000 * 0.3, 0.5}});
    // A kernel higher than the image, and a product of two activations, wait for all of it; one with weights
    // for one of 100 rows.
    op.work.window->kernel[1] = 30;
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::matrix_cycles, Lane::overhead) ==
          Approx(2 * 3 * macs / 2 / 1000 / 0.5));
    op.work.window.reset();
    op.work.kind = OpKind::matmul;
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::matrix_cycles, Lane::overhead) ==
          Approx(2 * 3 * macs / 2 / 1000 / 0.5 / 100));
    op.work.contractions[0].weights_constant = false;
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::matrix_cycles, Lane::overhead) ==
          Approx(2 * 3 * macs / 2 / 1000 / 0.5));
}

TEST_CASE("NPU: contexts load their weights over the link, and the configuration of each layer",
          "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.device->dram.reset();
    rig.device->host_link_bandwidth = fact(1e9);
    family_fact<bool>(*rig.device, "dataflow_pipeline") = true;
    own(*rig.device, "on_chip_weights") = fact(500);
    rig.set(Parameter::context_switch, 1e-4);
    Network network;
    SubgraphWork& s = network.convolution(4, 8, 10, 3); // 288 bytes of weights
    network.convolution(4, 8, 10, 3);
    const Mapping context = map_one(*mapper_of("npu"), s, network, rig);
    CHECK(context.events[Event::configuration_byte] == 288);
    CHECK(demand(context, Resource::host_link_bytes, Lane::overhead) == 288);
    // What crosses the link costs energy there, as the images do that come and go.
    CHECK(context.events[Event::host_link_byte] ==
          Approx(288 + demand(context, Resource::host_link_bytes, Lane::memory)));
    CHECK(demand(context, Resource::seconds, Lane::overhead) == 1e-4);
    const auto layers = [&](OpKind kind) {
        const Mapping one = map_one(*mapper_of("npu"), network.simple(kind, 800, 0), network, rig);
        return demand(one, Resource::seconds, Lane::overhead) / 1e-4;
    };
    CHECK(layers(OpKind::data_movement) == Approx(1));
    CHECK(layers(OpKind::elementwise) == Approx(1));
    CHECK(layers(OpKind::softmax) == Approx(6));       // maximum ... product
    CHECK(layers(OpKind::normalization) == Approx(8)); // mean ... shift
}

TEST_CASE("NPU: groups of a pipeline take whole blocks, or run as a dense layer", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.device->dram.reset();
    family_fact<bool>(*rig.device, "dataflow_pipeline") = true;
    own(*rig.device, "on_chip_weights") = fact(1e6);
    rig.set(Parameter::channel_block, 32);
    rig.options.scenario = Scenario::throughput;
    const auto macs = [&](double channels, double groups) {
        Network network;
        const Mapping m =
            map_one(*mapper_of("npu"), network.convolution(channels, channels, 10, 3, groups), network, rig);
        return demand(m, Resource::matrix_cycles, Lane::compute) * 1000 / 2;
    };
    CHECK(macs(64, 1) == Approx(100.0 * 9 * 64 * 64));
    CHECK(macs(512, 16) == Approx(100.0 * 9 * 16 * 32 * 32)); // groups of 32 fit
    CHECK(macs(256, 16) == Approx(100.0 * 9 * 16 * 32 * 32)); // of 16 channels: half of each side is empty
    CHECK(macs(64, 16) == Approx(100.0 * 9 * 64 * 64));       // of 4: dense is less than 16 blocks
    CHECK(macs(64, 64) == Approx(100.0 * 9 * 64));            // depthwise is not grouped
}

TEST_CASE("NPU: keys and values stay where the weights are when there is no other memory",
          "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.device->dram.reset();
    rig.device->host_link_bandwidth = fact(1e9);
    own(*rig.device, "sram") = fact(1e6);
    own(*rig.device, "on_chip_weights") = fact(5e5);
    Network network;
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    s.kv_bytes = 90;
    network.work().memory.kv_cache_bytes = 90;
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::host_link_bytes, Lane::memory) == 0);
    network.work().memory.kv_cache_bytes = 2e6; // more than there is room
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::host_link_bytes, Lane::memory) == 90);
}

TEST_CASE("NPU: one more column of an array moves a layer by its padding alone", "[formulas][npu]") {
    const auto cycles = [](double rows, double cols) {
        Rig rig(Family("npu"), 1, 2 * 320 * 320);
        own(*rig.device, "array_rows") = fact(rows);
        own(*rig.device, "array_cols") = fact(cols);
        Network network;
        return demand(map_one(*mapper_of("npu"), network.convolution(64, 64, 56, 3), network, rig),
                      Resource::matrix_cycles, Lane::compute);
    };
    // The reduction of 576 is cut into two tiles of 320, not into nine of a tap each.
    CHECK(cycles(320, 320) == Approx(56 * 56 * 2.0));
    CHECK(cycles(320, 321) == Approx(56 * 56 * 2.0 * 321 / 320));
    CHECK(cycles(321, 320) == Approx(56 * 56 * 2.0 * 321 / 320));
}

TEST_CASE("NPU: channels fill an array tap by tap where it states its pixels", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 2 * 32 * 32);
    own(*rig.device, "array_rows") = fact(32);
    own(*rig.device, "array_cols") = fact(32);
    family_fact<std::array<Fact, 2>>(*rig.device, "array_pixels") = {fact(1), fact(1)};
    Network network;
    // 3 of 32 rows and 2 x 32 columns of 40 work in each of 9 taps.
    const Mapping m = map_one(*mapper_of("npu"), network.convolution(3, 40, 9, 3), network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(81 * 9 * 2.0));
    // Every input leaves the buffer once for 32 output channels.
    const double fetched = 81 * 9 * 3 * 40 / 32.0;
    family_fact<bool>(*rig.device, "row_stationary") = true; // not counted there
    const Mapping rows = map_one(*mapper_of("npu"), network.convolution(3, 40, 9, 3), network, rig);
    CHECK(m.events[Event::l2_byte] - rows.events[Event::l2_byte] == Approx(fetched));
}

TEST_CASE("NPU: an array without room for the next activations waits for them", "[formulas][npu]") {
    Rig rig = npu_cores();
    Network network;
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    own(*rig.device, "sram") = fact(100); // nothing stays
    const Mapping beside = map_one(*mapper_of("npu"), s, network, rig);
    family_fact<bool>(*rig.device, "activations_wait") = true;
    const Mapping alone = map_one(*mapper_of("npu"), s, network, rig);
    CHECK(demand(beside, Resource::dram_bytes, Lane::overhead) == 0);
    CHECK(demand(alone, Resource::dram_bytes, Lane::overhead) ==
          demand(beside, Resource::dram_bytes, Lane::memory));
    CHECK(demand(alone, Resource::weight_bytes, Lane::memory) ==
          demand(beside, Resource::weight_bytes, Lane::memory)); // nothing is given from outside
    CHECK(alone.events[Event::dram_byte] == beside.events[Event::dram_byte]);
    own(*rig.device, "coded_activations") = fact(0.25); // zeros of both
    CHECK(demand(map_one(*mapper_of("npu"), s, network, rig), Resource::dram_bytes, Lane::overhead) ==
          Approx(demand(alone, Resource::dram_bytes, Lane::overhead) / 4));
}

TEST_CASE("NPU: a row-stationary array waits for its sums", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 2 * 12 * 14);
    own(*rig.device, "array_rows") = fact(12);
    own(*rig.device, "array_cols") = fact(14);
    family_fact<bool>(*rig.device, "row_stationary") = true;
    own(*rig.device, "held_inputs") = fact(12);
    const auto cycles = [&] {
        Network network;
        return demand(map_one(*mapper_of("npu"), network.convolution(8, 8, 13, 3), network, rig),
                      Resource::matrix_cycles, Lane::compute);
    };
    const double free = cycles();
    own(*rig.device, "sum_port") = fact(8);
    // 4 sets of 13 sums of 2 bytes in the time of 3 columns of 4 channels: 104 bytes in 12 cycles of 8.
    CHECK(cycles() == Approx(free * 104 / 96));
    own(*rig.device, "sum_port") = fact(16);
    CHECK(cycles() == Approx(free));
}

TEST_CASE("NPU: scores of attention without a kernel of its own pass through memory", "[formulas][npu]") {
    // Two groups of four heads, 100 queries and 120 keys, of which a mask leaves 60.
    Operator op;
    op.work.kind = OpKind::attention;
    op.work.contractions.push_back({2, 400, 60, 32, false});
    op.work.contractions.push_back({2, 400, 32, 60, false});
    AttentionShape shape;
    shape.heads = 8;
    shape.kv_heads = 2;
    shape.query_length = 100;
    shape.kv_length = 120;
    op.work.attention = shape;
    Network network(Precision::int8);
    const SubgraphWork s = subgraph_of(op, {5000, 0, 5000}, network.work().precision, network.uses());
    const auto dram = [&](Rig rig) {
        return demand(map_one(*mapper_of("npu"), s, network, rig), Resource::dram_bytes, Lane::memory);
    };
    Rig unfused = npu_cores().set(Parameter::fused_attention_bits, 0);
    // Two of four cores hold 3000 bytes: all 96,000 scores of 4 bytes pass ten times.
    CHECK(dram(unfused) - dram(npu_cores()) == Approx(96000. * 4 * 10));
    // One head would stay, but the operator after the product waits for the scores of all of them.
    own(*unfused.device, "sram") = fact(768000 - 4);
    CHECK(dram(unfused) == Approx(96000. * 4 * 10));
    own(*unfused.device, "sram") = fact(768000); // of which the two cores at work have half
    CHECK(dram(unfused) == 0);
    // A kernel for long prompts keeps them; this one has 100 queries.
    own(*unfused.device, "sram") = fact(48000);
    CHECK(dram(unfused.set(Parameter::fused_attention_rows, 101)) > 0);
    CHECK(dram(unfused.set(Parameter::fused_attention_rows, 100)) < 96000. * 4);
    // A kernel for the format keeps them wherever they fit or not.
    CHECK(dram(npu_cores().set(Parameter::fused_attention_bits, 8)) == dram(npu_cores()));
}

TEST_CASE("NPU: ranks of a sharded network have whole heads and caches of their own", "[formulas][npu]") {
    // Two programs on a chip: 3 heads of queries take the time of 4, the one head of keys is read
    // by both.
    Operator op;
    op.work.kind = OpKind::attention;
    op.work.contractions.push_back({1, 3, 60, 32, false});
    op.work.contractions.push_back({1, 3, 32, 60, false});
    AttentionShape shape;
    shape.heads = 3;
    shape.kv_heads = 1;
    op.work.attention = shape;
    Network network(Precision::int8);
    SubgraphWork s = subgraph_of(op, {5000, 0, 300}, network.work().precision, network.uses());
    s.kv_bytes = 4000;
    // Programs of npu_cores() run on two cores.
    const auto on = [&](double cores, double devices) {
        Rig rig = npu_cores();
        own(*rig.device, "cores") = fact(cores);
        rig.options.devices = devices;
        return map_one(*mapper_of("npu"), s, network, rig);
    };
    const Mapping whole = on(2, 2), ranks = on(4, 2);
    CHECK(demand(ranks, Resource::matrix_cycles, Lane::compute) ==
          Approx(4.0 / 3 * demand(whole, Resource::matrix_cycles, Lane::compute)));
    CHECK(demand(ranks, Resource::weight_bytes, Lane::memory) -
              demand(whole, Resource::weight_bytes, Lane::memory) ==
          Approx(4000));
    // One device is not sharded.
    CHECK(demand(on(4, 1), Resource::weight_bytes, Lane::memory) ==
          Approx(demand(on(2, 1), Resource::weight_bytes, Lane::memory)));
}
