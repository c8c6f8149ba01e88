// Counts of the DSP mapper, each derived by hand from docs/mappers/dsp.md.

#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

/// Two processors of 1000 8-bit operations per cycle; one network uses one. Channels pad to 8. The vector
/// unit does 0.1 x 2000 x 0.8 = 160 operations per cycle, 80 of them for one network.
Rig processors() {
    Rig rig(Family("dsp"), 2, 1000);
    own(*rig.device, "mma_count") = fact(2);
    own(*rig.device, "scratchpad") = fact(4000);
    rig.set(Parameter::matrix_efficiency, 0.8).set(Parameter::vector_efficiency, 0.5);
    rig.set(Parameter::channel_block, 8).set(Parameter::vector_per_matrix, 0.1);
    rig.set(Parameter::drain_cost, 2)
        .set(Parameter::activation_cost, 3)
        .set(Parameter::elementwise_cost, 0.5);
    rig.set(Parameter::spill_share, 0.25).set(Parameter::small_operator_work, 5000);
    rig.set(Parameter::depthwise_efficiency, 0.4).set(Parameter::conversion_work, 20000);
    rig.set(Parameter::kernel_overhead, 3e-6).set(Parameter::layer_cycles, 5);
    return rig;
}

double vector_cycles_of(const SubgraphWork& s, const Network& network, const Rig& rig) {
    double cycles = 0;
    for (const Demand& d : map_one(*mapper_of("dsp"), s, network, rig).all())
        if (d.resource == Resource::vector_cycles)
            cycles += d.amount;
    return cycles;
}

/// Of a convolution with an exponential activation behind it.
double convolution_cycles(const Rig& rig, Precision precision) {
    Network network(precision);
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    network.follow(s, 1620, 3240, 1620);
    return vector_cycles_of(s, network, rig);
}

} // namespace

TEST_CASE("DSP: a convolution with an exponential activation on one of two processors", "[formulas][dsp]") {
    Network network;
    SubgraphWork& s = network.convolution(10, 20, 9, 3);
    network.follow(s, 1620, 3240, 1620);
    s.kv_bytes = 10; // of the 810 bytes of input
    const Mapping m = map_one(*mapper_of("dsp"), s, network, processors());
    const double padded = 81 * 9 * 16 * 24, macs = 81 * 9 * 10 * 20;
    // 1620 bytes drain at 2 operations and pass an exponential at 3.
    const double vector_ops = 1620 * (2 + 3);
    check_demands(m, {{Resource::matrix_cycles, Lane::compute, 2 * padded / 1000, 0.8},
                      {Resource::vector_cycles, Lane::compute, vector_ops / 80, 0.5},
                      {Resource::weight_bytes, Lane::memory, 1800 + 10},
                      // 810 - 10 + 1620 bytes exceed half the scratchpad; a quarter of them spills.
                      {Resource::dram_bytes, Lane::memory, 0.25 * 2420},
                      {Resource::seconds, Lane::overhead, 3e-6},
                      {Resource::overhead_cycles, Lane::overhead, 5}});
    check_events(m.events, {{Precision::int8, macs}},
                 {{Event::vector_op, 3240},
                  {Event::special_op, 1620},
                  // A packet per cycle of either engine of the processor that works.
                  {Event::instruction, 2 * padded / 1000 + vector_ops / 80},
                  {Event::l1_byte, 2430 + 1800 + 2 * 1620},
                  {Event::l2_byte, 2430 + 1800},
                  {Event::streamer_byte, 1800},
                  {Event::dram_byte, 1810 + 605}});
    check_allocation(m, 1, 2, 0, macs / padded);
    CHECK(m.ideal_cycles == Approx(2 * macs / 2000));
}

TEST_CASE("DSP: exponential activations may cost more in 16-bit floats than in integers", "[formulas][dsp]") {
    const auto cycles = [](Precision precision, double half_cost) {
        return convolution_cycles(processors().set(Parameter::half_activation_relative_cost, half_cost),
                                  precision);
    };
    CHECK(cycles(Precision::fp16, 4) - cycles(Precision::fp16, 1) == Approx(3 * 3 * 1620 / 80.0));
    CHECK(cycles(Precision::int8, 4) == cycles(Precision::int8, 1));
}

TEST_CASE("DSP: a softmax has an exponential per score, which costs more in 16-bit floats too",
          "[formulas][dsp]") {
    const auto cycles = [](Precision precision, double half_cost) {
        Rig rig = processors();
        rig.set(Parameter::softmax_cost, 7).set(Parameter::half_activation_relative_cost, half_cost);
        Network network(precision);
        SubgraphWork& s = network.simple(OpKind::softmax, 500, 2500, 500);
        return vector_cycles_of(s, network, rig);
    };
    CHECK(cycles(Precision::fp16, 4) - cycles(Precision::fp16, 1) == Approx(3 * 3 * 500 / 80.0));
    CHECK(cycles(Precision::int8, 4) == cycles(Precision::int8, 1));
}

TEST_CASE("DSP: all vector work on 16-bit floats may take longer than on integers", "[formulas][dsp]") {
    const auto cycles = [](Precision precision, double half_cost) {
        return convolution_cycles(processors().set(Parameter::half_vector_relative_cost, half_cost),
                                  precision);
    };
    CHECK(cycles(Precision::fp16, 1.5) == Approx(1.5 * cycles(Precision::fp16, 1)));
    CHECK(cycles(Precision::int8, 1.5) == cycles(Precision::int8, 1));
}

TEST_CASE("DSP: a guest of a hypervisor starts inferences later, whatever its host's speed",
          "[formulas][dsp]") {
    const auto start = [](double guest, Scenario scenario = Scenario::latency) {
        Rig rig = processors();
        rig.set(Parameter::inference_overhead, 200e-6).set(Parameter::guest_overhead, 100e-6);
        rig.set(Parameter::stream_overlap, 0.5);
        rig.options.scenario = scenario;
        own(*rig.device, "host_clock") = fact(5e9);
        own(*rig.device, "host_width") = fact(4);
        own(*rig.device, "host_guest") = fact(guest);
        Network network;
        double seconds = 0;
        for (const Demand& d : mapper_of("dsp")->map_network(network.work(), rig.machine()).fixed.all())
            if (d.resource == Resource::seconds)
                seconds += d.amount;
        return seconds;
    };
    CHECK(start(0) == Approx(100e-6));
    CHECK(start(1) == Approx(200e-6));
    CHECK(start(1, Scenario::throughput) == Approx(100e-6));
}

TEST_CASE("DSP: a rate above the nominal one raises the peak", "[formulas][dsp]") {
    Network network;
    Rig rig = processors();
    rig.set(Parameter::matrix_efficiency, 1.25);
    const Mapping m = map_one(*mapper_of("dsp"), network.convolution(10, 20, 9, 3), network, rig);
    CHECK(m.ideal_cycles == Approx(2 * 145800 / (2000 * 1.25)));
}

TEST_CASE("DSP: depthwise convolution is a small operator on the vector unit", "[formulas][dsp]") {
    Network network;
    SubgraphWork& s = network.convolution(10, 10, 9, 3, 10);
    const Mapping m = map_one(*mapper_of("dsp"), s, network, processors());
    check_demands(m, {{Resource::vector_cycles, Lane::compute, 810 * 2 / 80.0, 0.5},
                      {Resource::vector_cycles, Lane::compute, 2 * 7290 / 80.0, 0.4},
                      {Resource::weight_bytes, Lane::memory, 90},
                      {Resource::seconds, Lane::overhead, 3e-6},
                      {Resource::overhead_cycles, Lane::overhead, 5},
                      {Resource::matrix_cycles, Lane::overhead, 5000 / 1000.0, 0.8}});
    CHECK(m.events[Event::instruction] == Approx((810 * 2 + 2 * 7290) / 80.0));
}

TEST_CASE("DSP: 16-bit networks are converted on one processor, all of them serve requests",
          "[formulas][dsp]") {
    Network network(Precision::fp16, 3);
    network.product(6, 8, 8);
    Rig rig = processors();
    rig.set(Parameter::inference_overhead, 1e-4);
    check_demands(mapper_of("dsp")->map_network(network.work(), rig.machine()).fixed,
                  {{Resource::seconds, Lane::overhead, 1e-4},
                   {Resource::matrix_cycles, Lane::overhead, 3 * 20000 / 1000.0, 0.8}});
    // 240 elements go in and 48 come out as fp32 on one side and as fp16 on the other.
    network.work().input_bytes = 480;
    network.work().output_bytes = 96;
    const NetworkMapping converted = mapper_of("dsp")->map_network(network.work(), rig.machine());
    CHECK(demand(converted.fixed, Resource::dram_bytes, Lane::overhead) == Approx(288 * (4 + 2)));
    CHECK(converted.fixed.events[Event::dram_byte] == Approx(288 * (4 + 2)));
    Network narrow(Precision::int8);
    narrow.work().input_bytes = 480;
    CHECK(demand(mapper_of("dsp")->map_network(narrow.work(), rig.machine()).fixed, Resource::dram_bytes,
                 Lane::overhead) == 0);
    rig.options.scenario = Scenario::throughput;
    CHECK(mapper_of("dsp")->map_network(network.work(), rig.machine()).instances == 2);
    rig.set(Parameter::cores_per_inference, 2);
    CHECK(mapper_of("dsp")->map_network(network.work(), rig.machine()).instances == 1);
}

TEST_CASE("DSP: what is converted passes at the rate of so many channels of the DRAM, however many it has",
          "[formulas][dsp]") {
    Network network(Precision::fp16);
    network.product(6, 8, 8);
    network.work().input_bytes = 480;
    Rig rig = processors();
    rig.set(Parameter::conversion_channels, 2);
    const auto seconds = [&](double dram) {
        rig.device->dram->bandwidth = fact(dram);
        const Machine machine = rig.machine();
        for (const Demand& d : mapper_of("dsp")->map_network(network.work(), machine).fixed.all())
            if (d.resource == Resource::dram_bytes)
                return d.amount / (machine.rate(Resource::dram_bytes) * d.efficiency);
        return 0.0;
    };
    own(*rig.device, "dram_channel") = fact(1e9);
    CHECK(seconds(40e9) == Approx(240 * (4 + 2) / 2e9));
    CHECK(seconds(80e9) == Approx(240 * (4 + 2) / 2e9));
    CHECK(seconds(1e9) == Approx(240 * (4 + 2) / 1e9));
    own(*rig.device, "dram_channel") = fact(0);
    CHECK(seconds(40e9) == Approx(240 * (4 + 2) / 40e9));
}

TEST_CASE("DSP: a network that continues from keys and values gets them as it wrote them",
          "[formulas][dsp]") {
    Network network(Precision::fp16);
    network.product(6, 8, 8);
    network.work().input_bytes = 480;
    const auto fixed = [&] {
        return mapper_of("dsp")->map_network(network.work(), processors().machine()).fixed;
    };
    CHECK(demand(fixed(), Resource::matrix_cycles, Lane::overhead) == Approx(20000 / 1000.0 / 0.8));
    network.work().subgraphs.front().kv_bytes = 10;
    CHECK(demand(fixed(), Resource::dram_bytes, Lane::overhead) == Approx(240 * (2 + 2)));
    CHECK(demand(fixed(), Resource::matrix_cycles, Lane::overhead) == 0);
}

TEST_CASE("DSP: the fixed time of an inference follows the host's core", "[formulas][dsp]") {
    Network network;
    network.product(6, 8, 8);
    Rig rig = processors();
    rig.set(Parameter::inference_overhead, 1e-4);
    const auto start = [&] {
        return demand(mapper_of("dsp")->map_network(network.work(), rig.machine()).fixed, Resource::seconds,
                      Lane::overhead);
    };
    CHECK(start() == Approx(1e-4)); // a host that is not known is the one that stacks state it for
    own(*rig.device, "host_clock") = fact(2.5e9);
    CHECK(start() == Approx(1e-4)); // half a statement says nothing
    own(*rig.device, "host_width") = fact(4);
    CHECK(start() == Approx(1e-4));
    // Eight instructions per clock of 4 GHz instead of four of 2.5: 10 / 32 of the time.
    own(*rig.device, "host_clock") = fact(4e9);
    own(*rig.device, "host_width") = fact(8);
    CHECK(start() == Approx(1e-4 * 10 / 32));
}

TEST_CASE("DSP: products of a format without a rate take passes of a narrower one", "[formulas][dsp]") {
    // fp16 in 8-bit passes: four of them.
    Network network(Precision::fp16);
    Rig rig = processors();
    rig.set(Parameter::wide_passes, 4)
        .set(Parameter::half_relative_efficiency, 0.5)
        .set(Parameter::drain_cost, 0);
    const Mapping m = map_one(*mapper_of("dsp"), network.product(6, 8, 8), network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(2 * 384 * 4 / 1000.0 / (0.8 * 0.5)));
    CHECK(m.events.macs[static_cast<std::size_t>(Precision::int8)] == 4 * 384);
}
