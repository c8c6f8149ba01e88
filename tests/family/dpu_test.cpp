#include "family/dpu_cycles.hpp"
#include "map/accelerator_support.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

Window window(double in_channels, double out_channels, double size, double kernel, double groups = 1) {
    Window w;
    w.in_channels = in_channels;
    w.out_channels = out_channels;
    w.groups = groups;
    w.in = w.out = {1, size, size};
    w.kernel = {1, kernel, kernel};
    return w;
}

/// Three cores of 8 x 16 x 16 sharing one DRAM.
Rig b4096() {
    Rig rig(Family("dpu"), 3, 4096);
    own(*rig.device, "cores") = fact(3);
    own(*rig.device, "pixel_parallel") = fact(8);
    own(*rig.device, "input_channel_parallel") = fact(16);
    own(*rig.device, "output_channel_parallel") = fact(16);
    own(*rig.device, "depthwise_pixel_parallel") = fact(4);
    rig.set(Parameter::matrix_efficiency, 0.8).set(Parameter::layer_cycles, 6000);
    rig.set(Parameter::weight_port, 32);
    return rig;
}

} // namespace

TEST_CASE("convolution engine loops over pixels and channel blocks", "[dpu]") {
    const dpu::Parallelism b4096{8, 16, 16, 4};
    CHECK(dpu::convolution_cycles(window(64, 64, 56, 3), b4096) == 56448);
    // 57 columns need an eighth block of pixels, 65 channels a fifth block of channels.
    CHECK(dpu::convolution_cycles(window(64, 65, 57, 3), b4096) == 8 * 57 * 9 * 4 * 5);
    // Groups narrower than a block waste it.
    CHECK(dpu::convolution_cycles(window(64, 64, 56, 3, 16), b4096) == 7 * 56 * 9 * 1 * 1 * 16);
    // RGB input: a row of 7 taps x 3 channels shares the input-channel axis, ceil(21/16) = 2.
    CHECK(dpu::convolution_cycles(window(3, 64, 112, 7), b4096) == 14 * 112 * (7 * 2) * 4);
}

TEST_CASE("fully connected, depthwise and pooling cycles", "[dpu]") {
    const dpu::Parallelism b4096{8, 16, 16, 4};
    Contraction c;
    c.n = 1000;
    c.k = 2048;
    CHECK(dpu::product_cycles(c, 1, b4096) == 128 * 63);
    CHECK(dpu::window_cycles(window(32, 32, 112, 3, 32), b4096) == 28 * 112 * 2 * 9);
    Window global = window(2048, 2048, 1, 7);
    CHECK(dpu::window_cycles(global, b4096) == 13 * 128);
}

TEST_CASE("a layer costs its cycles, its weights and a fixed part", "[dpu]") {
    const auto mapper = mapper_of("dpu");
    Network network;
    const Mapping m = map_one(*mapper, network.convolution(64, 64, 56, 3), network, b4096());
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(56448 / 0.8));
    CHECK(demand(m, Resource::matrix_cycles, Lane::on_chip) == Approx(64 * 64 * 9 / 32.0));
    CHECK(demand(m, Resource::weight_bytes, Lane::memory) == 64 * 64 * 9);
    CHECK(demand(m, Resource::overhead_cycles, Lane::overhead) == 6000);
    CHECK(m.ideal_cycles == Approx(56448 / 3.0)); // all three cores busy
}

TEST_CASE("saturated cores share DRAM and run independent images", "[dpu]") {
    const auto mapper = mapper_of("dpu");
    Network network;
    Rig rig = b4096();
    rig.options.scenario = Scenario::throughput;
    const Mapping m = map_one(*mapper, network.convolution(64, 64, 56, 3), network, rig);
    CHECK(demand(m, Resource::weight_bytes, Lane::memory) == Approx(3 * 64 * 64 * 9));
    CHECK(mapper->map_network(network.work(), rig.machine()).instances == 3);
}

TEST_CASE("batch handlers share one weight load and round up to whole rounds", "[dpu]") {
    const auto mapper = mapper_of("dpu");
    Rig rig = b4096();
    own(*rig.device, "batch_handlers") = fact(4);
    Network one(Precision::int8, 1), four(Precision::int8, 4), five(Precision::int8, 5);
    const Mapping a = map_one(*mapper, one.convolution(64, 64, 56, 3), one, rig);
    const Mapping b = map_one(*mapper, four.convolution(64, 64, 56, 3), four, rig);
    const Mapping c = map_one(*mapper, five.convolution(64, 64, 56, 3), five, rig);
    for (Resource r : {Resource::matrix_cycles, Resource::weight_bytes, Resource::overhead_cycles})
        for (Lane lane : {Lane::compute, Lane::memory, Lane::overhead}) {
            CHECK(demand(a, r, lane) == demand(b, r, lane));
            CHECK(demand(c, r, lane) == 2 * demand(b, r, lane));
        }
}

TEST_CASE("an operator outside the instruction set runs on the host", "[dpu]") {
    const auto mapper = mapper_of("dpu");
    Network network;
    SubgraphWork& s = network.simple(OpKind::softmax, 1000, 5000);
    network.uses().of(s)[0].supported = false;
    Rig rig = b4096();
    rig.runtime->fallback = Fallback::host;
    rig.set(Parameter::fallback_switch, 1e-4).set(Parameter::fallback_operation_time, 1e-10);
    const Mapping m = map_one(*mapper, s, network, rig);
    CHECK(demand(m, Resource::seconds, Lane::overhead) == Approx(1e-4 + 5000e-10));
    CHECK(demand(m, Resource::dram_bytes, Lane::overhead) == 2000); // written and read through shared memory
    CHECK(demand(m, Resource::overhead_cycles, Lane::overhead) == 0);
    CHECK(m.events[Event::host_busy_second] == Approx(5000e-10));
}

TEST_CASE("AI engines pad pixels and channels, the logic pools in a clock domain of its own", "[dpu]") {
    const auto mapper = mapper_of("dpu");
    Rig rig(Family("dpu"), 192, 256);
    rig.device->clock_sustained = fact(1250e6);
    own(*rig.device, "aie") = fact(192);
    own(*rig.device, "batch_handlers") = fact(6);
    own(*rig.device, "pl_clock") = fact(312.5e6);
    own(*rig.device, "pixel_parallel") = fact(8);
    own(*rig.device, "input_channel_parallel") = fact(16);
    own(*rig.device, "output_channel_parallel") = fact(32);
    rig.set(Parameter::pooling_rate, 20);
    rig.options.scenario = Scenario::throughput;
    Network network(Precision::int8, 6);
    const Mapping conv = map_one(*mapper, network.convolution(48, 40, 28, 1), network, rig);
    // 28 columns are four blocks of 8, 48 channels three of 16 and 40 two of 32.
    CHECK(demand(conv, Resource::matrix_cycles, Lane::compute) ==
          Approx(6 * 2 * 28 * 32 * 48 * 64 / (192 * 256.0)));
    SubgraphWork& pool = network.simple(OpKind::pooling, 6 * 64 * 14 * 14, 0);
    Operator op = *pool.operators[0].op;
    op.work.window = window(64, 64, 14, 2);
    network.uses().of(pool)[0].op = &op;
    const Mapping p = map_one(*mapper, pool, network, rig);
    // One round: 14 x 14 x 4 taps x 64 channels at 20 per logic cycle, four AI-engine cycles each.
    CHECK(demand(p, Resource::vector_cycles, Lane::on_chip) == Approx(14 * 14 * 4 * 64 / 20.0 * 4));
}
