#include "archsim/hardware/database.hpp"
#include "hardware/parameter_site.hpp"
#include "laws/laws.hpp"
#include "map/accelerator.hpp"
#include "map/accelerator_support.hpp"
#include "support/places.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// Tensor unit that pads every tap's channels to 32; vector unit at 1/10 of its 8-bit rate.
Rig hexagon() {
    Rig rig(Family("dsp"), 1, 20000);
    rig.device->engines[0].ops_per_clock[static_cast<std::size_t>(Precision::fp16)] = fact(10000);
    own(*rig.device, "scratchpad") = fact(8e6);
    rig.runtime->weight_prefetch = WeightPrefetch::network;
    rig.set(Parameter::channel_block, 32).set(Parameter::vector_per_matrix, 0.1);
    rig.set(Parameter::drain_cost, 2).set(Parameter::half_relative_efficiency, 0.5);
    return rig;
}

/// Four matrix accelerators of 64 x 64; one network uses one.
Rig mma() {
    Rig rig(Family("dsp"), 4, 8192);
    own(*rig.device, "mma_count") = fact(4);
    own(*rig.device, "mma_rows") = own(*rig.device, "mma_cols") = fact(64);
    own(*rig.device, "scratchpad") = fact(1e6);
    rig.set(Parameter::vector_per_matrix, 0.01).set(Parameter::kernel_overhead, 1e-5);
    rig.set(Parameter::matrix_efficiency, 0.25);
    return rig;
}

} // namespace

TEST_CASE("a tensor unit pads the channels of every tap", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network network;
    const Mapping m = map_one(*mapper, network.convolution(3, 40, 112, 3), network, hexagon());
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(2 * 112 * 112 * 9.0 * 32 * 64 / 20000));
    // Draining 40 channels of 1 byte at 2 operations each on 2000 per cycle.
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) == Approx(2 * 112 * 112 * 40 / 2000.0));
    CHECK(m.allocation.useful_fraction == Approx(3 * 40 / (32.0 * 64)));
}

TEST_CASE("16-bit networks run slower and pay a conversion per inference", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network narrow, wide(Precision::fp16);
    Rig rig = hexagon();
    rig.set(Parameter::conversion_work, 2e6);
    const Mapping a = map_one(*mapper, narrow.convolution(32, 32, 8, 1), narrow, rig);
    const Mapping b = map_one(*mapper, wide.convolution(32, 32, 8, 1), wide, rig);
    // Half the rate, and half the efficiency.
    CHECK(demand(b, Resource::matrix_cycles, Lane::compute) ==
          Approx(4 * demand(a, Resource::matrix_cycles, Lane::compute)));
    CHECK(demand(mapper->map_network(narrow.work(), rig.machine()).fixed, Resource::matrix_cycles,
                 Lane::overhead) == 0);
    CHECK(demand(mapper->map_network(wide.work(), rig.machine()).fixed, Resource::matrix_cycles,
                 Lane::overhead) == Approx(2e6 / 20000));
}

TEST_CASE("8-bit weights with 16-bit activations use the 8-bit rate at a share of its own", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network network(Precision::fp16);
    network.work().precision.weights = Precision::int8;
    Rig rig = hexagon();
    rig.set(Parameter::mixed_width_relative_efficiency, 0.8);
    const Mapping m = map_one(*mapper, network.convolution(32, 32, 8, 1), network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(2 * 8 * 8 * 32 * 32 / 20000.0 / 0.8));
}

TEST_CASE("a matrix accelerator flattens the reduction and serves one network", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network network;
    Rig rig = mma();
    const Mapping m = map_one(*mapper, network.convolution(3, 40, 112, 3), network, rig);
    // K = 27 and N = 40 pad to 64; one of four accelerators.
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) ==
          Approx(2 * 112 * 112 * 64.0 * 64 / 8192 / 0.25));
    CHECK(demand(m, Resource::seconds, Lane::overhead) == 1e-5);
    CHECK(m.allocation.units_used == 1);
    rig.options.scenario = Scenario::throughput;
    CHECK(mapper->map_network(network.work(), rig.machine()).instances == 4);
}

TEST_CASE("depthwise runs on the vector unit, spills count beyond half the scratchpad", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network network;
    Rig rig = mma();
    rig.set(Parameter::depthwise_efficiency, 0.5);
    const Mapping m = map_one(*mapper, network.convolution(64, 64, 112, 3, 64), network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == 0);
    const double vector_rate = 4 * 8192 * 0.01 * 0.25 / 4;
    CHECK(demand(m, Resource::vector_cycles, Lane::compute) ==
          Approx(2 * 64 * 112 * 112 * 9 / vector_rate / 0.5));
    CHECK(demand(m, Resource::dram_bytes, Lane::memory) == 2 * 64 * 112 * 112);
    Network small;
    CHECK(demand(map_one(*mapper, small.convolution(64, 64, 28, 3, 64), small, rig), Resource::dram_bytes,
                 Lane::memory) == 0);
}

TEST_CASE("normalisation and softmax cost what the stack says per element", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network network;
    Rig rig = hexagon();
    rig.set(Parameter::normalization_cost, 1000).set(Parameter::softmax_cost, 400);
    const Mapping norm = map_one(*mapper, network.simple(OpKind::normalization, 5000, 30000), network, rig);
    const Mapping soft = map_one(*mapper, network.simple(OpKind::softmax, 5000, 30000), network, rig);
    CHECK(demand(norm, Resource::vector_cycles, Lane::compute) == Approx(5000 * 1000 / 2000.0));
    CHECK(demand(soft, Resource::vector_cycles, Lane::compute) == Approx(5000 * 400 / 2000.0));
}

TEST_CASE("the port of one core limits what it draws from DRAM", "[dsp]") {
    Rig rig = hexagon(); // 10 GB/s of DRAM, 1 GHz
    rig.set(Parameter::fabric_efficiency, 0.5);
    own(*rig.device, "port_bytes_per_clock") = fact(64);
    CHECK(rig.machine().rate(Resource::weight_bytes) == Approx(10e9));
    own(*rig.device, "port_bytes_per_clock") = fact(8);
    CHECK(rig.machine().rate(Resource::weight_bytes) == Approx(8 * 1e9 * 0.5));
    CHECK(rig.machine().rate(Resource::dram_bytes) == Approx(4e9));
    // The clock is a rating's: what the tensor unit keeps of it, the port keeps too.
    rig.set(Parameter::matrix_efficiency, 0.75);
    CHECK(rig.machine().rate(Resource::dram_bytes) == Approx(3e9));
}

TEST_CASE("one of two tensor processors serves a network, with half of everything on the chip", "[dsp]") {
    const auto mapper = mapper_of("dsp");
    Network one, two;
    Rig rig = hexagon();
    const Mapping whole = map_one(*mapper, one.convolution(32, 32, 56, 3), one, rig);
    own(*rig.device, "mma_count") = fact(2);
    const Mapping half = map_one(*mapper, two.convolution(32, 32, 56, 3), two, rig);
    for (Resource r : {Resource::matrix_cycles, Resource::vector_cycles})
        CHECK(demand(half, r, Lane::compute) == Approx(2 * demand(whole, r, Lane::compute)));
    rig.options.scenario = Scenario::throughput;
    CHECK(mapper->map_network(two.work(), rig.machine()).instances == 2);
}

TEST_CASE("vector units of Hexagon's generations are as wide beside tensor units that are not", "[dsp]") {
    const auto rate = [](const char* device) { // of one processor
        const auto machine = laws::session().machine(device, {});
        Device facts = *machine->device;
        const double processors = family_fact<Fact>(facts, "mma_count").value_or(1);
        return accelerator::vector_ops_per_cycle(*machine) * machine->rate(Resource::vector_cycles) /
               processors;
    };
    for (const char* device : {"SA8295P", "Snapdragon-8-Gen-1", "SA8775P", "Snapdragon-X-Elite-NPU"}) {
        INFO(device);
        CHECK(rate(device) == Approx(rate("QCS8550")).epsilon(0.3));
    }
}

TEST_CASE("a chip on a stack that counts channels of the DRAM says what one carries", "[dsp][database]") {
    const HardwareDatabase hardware(kDatabase);
    std::size_t chips = 0;
    for (const std::string& name : hardware.device_ids()) {
        Device device = *hardware.device(name).device;
        if (device.family != Family("dsp") || !device.dram || !device.dram->bandwidth.known())
            continue;
        for (const std::string& stack : device.runtimes) {
            const ParameterSet set = resolve_parameters(device, *hardware.runtime(stack));
            if (!set.fact(Parameter::conversion_channels).known())
                continue;
            INFO(name << " on " << stack);
            ++chips;
            const double channel = own(device, "dram_channel").value_or(0);
            CHECK(channel > 0);
            CHECK(channel <= device.dram->bandwidth.value);
        }
    }
    CHECK(chips >= 15);
}
