#include "map/accelerator_support.hpp"
#include "map/tiled.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("one core of several serves an inference, all of them a stream", "[npu]") {
    const auto mapper = mapper_of("npu");
    Rig rig(Family("npu"), 3, 2048);
    own(*rig.device, "cores") = fact(3);
    rig.set(Parameter::cores_per_inference, 1).set(Parameter::channel_block, 32).buffer(1e9);
    Network network;
    const Mapping m = map_one(*mapper, network.convolution(3, 32, 16, 3), network, rig);
    CHECK(demand(m, Resource::matrix_cycles, Lane::compute) == Approx(2 * 16 * 16 * 9 * 32 * 32 / 2048.0));
    rig.options.scenario = Scenario::throughput;
    const Mapping all = map_one(*mapper, network.work().subgraphs[0], network, rig);
    CHECK(demand(all, Resource::matrix_cycles, Lane::compute) ==
          Approx(demand(m, Resource::matrix_cycles, Lane::compute) / 3));
}

TEST_CASE("activations beyond the buffer and every weight pass through DRAM", "[npu]") {
    const auto mapper = mapper_of("npu");
    Rig rig(Family("npu"), 1, 2048);
    own(*rig.device, "sram") = fact(1e5);
    Network small, large;
    const Mapping a = map_one(*mapper, small.convolution(32, 32, 16, 3), small, rig);
    const Mapping b = map_one(*mapper, large.convolution(32, 32, 64, 3), large, rig);
    CHECK(demand(a, Resource::dram_bytes, Lane::memory) == 0);
    CHECK(demand(a, Resource::weight_bytes, Lane::memory) == 32 * 32 * 9);
    // Four tiles of 32 x 32 pixels fit beside all weights: 34 x 34 x 32 bytes in, 32 x 32 x 32 out. Two rows
    // and columns between them are read twice.
    CHECK(demand(b, Resource::dram_bytes, Lane::memory) ==
          Approx(32 * 64 * 64 * (1 + 66 * 66 / (64 * 64.0))));
}

namespace {

Rig pipeline() {
    Rig rig(Family("npu"), 1, 20000);
    rig.device->dram.reset();
    family_fact<bool>(*rig.device, "dataflow_pipeline") = true;
    own(*rig.device, "on_chip_weights") = fact(1e5);
    rig.runtime->combine_exponent = fact(2);
    rig.set(Parameter::frame_interval, 3e-4).set(Parameter::context_switch, 1e-4);
    rig.options.scenario = Scenario::throughput;
    return rig;
}

} // namespace

TEST_CASE("layers of a pipeline share the interval by their work", "[npu]") {
    const auto mapper = mapper_of("npu");
    Network network;
    SubgraphWork a = network.convolution(32, 32, 16, 3);
    SubgraphWork b = network.convolution(32, 96, 16, 3);
    const Rig rig = pipeline();
    const Mapping ma = map_one(*mapper, a, network, rig), mb = map_one(*mapper, b, network, rig);
    CHECK(demand(ma, Resource::seconds, Lane::on_chip) == Approx(3e-4 / 4));
    CHECK(demand(mb, Resource::seconds, Lane::on_chip) == Approx(3e-4 * 3 / 4));
    CHECK(demand(ma, Resource::seconds, Lane::overhead) == 0);
}

TEST_CASE("the stages of a pipeline add up to its interval, whatever their kinds", "[npu]") {
    // A dense layer and a depthwise one that takes more of the array with fewer multiply-accumulates, images
    // of the host beside them: what combines lanes for each stage combines the whole.
    const auto mapper = mapper_of("npu");
    Network network;
    const SubgraphWork dense = network.convolution(32, 32, 16, 3);
    const SubgraphWork depthwise = network.convolution(32, 32, 16, 3, 32);
    Rig rig = pipeline();
    rig.device->host_link_bandwidth = fact(1e9);
    rig.set(Parameter::matrix_efficiency, 0.5).set(Parameter::depthwise_efficiency, 0.01);
    const Mapping a = map_one(*mapper, dense, network, rig), b = map_one(*mapper, depthwise, network, rig);
    const auto compute = [&](const Mapping& m) {
        double cycles = 0;
        for (const Demand& d : m.all())
            if (d.lane == Lane::compute)
                cycles += d.amount / d.efficiency;
        return cycles;
    };
    CHECK(compute(b) > 1.5 * compute(a)); // 1/32 of the work at 1/50 of the rate
    const double share = compute(a) / (compute(a) + compute(b));
    CHECK(demand(a, Resource::seconds, Lane::on_chip) == Approx(3e-4 * share));
    CHECK(demand(b, Resource::seconds, Lane::on_chip) == Approx(3e-4 * (1 - share)));
    CHECK(a.allocation.units_used + b.allocation.units_used == Approx(1));
}

TEST_CASE("a single image waits for the first rows at every layer", "[npu]") {
    const auto mapper = mapper_of("npu");
    Network network;
    SubgraphWork a = network.convolution(32, 32, 16, 3);
    Rig rig = pipeline();
    rig.options.scenario = Scenario::latency;
    const Mapping m = map_one(*mapper, a, network, rig);
    const double interval = 2 * a.macs / 20000;
    CHECK(demand(m, Resource::matrix_cycles, Lane::overhead) ==
          Approx(interval * 2 / 16)); // 2 of 16 rows, and one of padding
}

TEST_CASE("a network that does not fit a pipeline is loaded over the host link", "[npu]") {
    const auto mapper = mapper_of("npu");
    Network network;
    SubgraphWork large = network.convolution(128, 128, 16, 3); // 147 kB of weights, the chip holds 100
    Rig rig = pipeline();
    rig.device->host_link_bandwidth = fact(4e9);
    const Mapping m = map_one(*mapper, large, network, rig);
    CHECK(demand(m, Resource::host_link_bytes, Lane::overhead) == 128 * 128 * 9);
    CHECK(demand(m, Resource::host_link_bytes, Lane::memory) == 0);
    CHECK(demand(m, Resource::seconds, Lane::on_chip) == Approx(3e-4)); // a frame comes no sooner
    CHECK(std::string(m.allocation.scheme) == "context");
}

TEST_CASE("compute units of one generation of chips are of one kind", "[npu]") {
    // Chips of a generation have more or fewer of the same units at clocks of their own. A unit of one that
    // is several times as fast as a unit of another has the rating of another format, or the count of another
    // chip.
    const HardwareDatabase& database = shipped_session().hardware();
    std::map<std::string, std::pair<double, double>> rates; // least and most of a unit, by generation
    for (const std::string& id : database.device_ids()) {
        Device device = *database.device(id).device;
        if (device.family != Family("npu") || device.engines.empty())
            continue;
        const Engine& array = device.engines.front();
        const Fact units = own(device, "compute_units");
        const double chip = array.count * array.rate(Precision::int8).value_or(0) * array.clock.value_or(0);
        if (!units.known() || chip <= 0)
            continue;
        const double each = chip / units.value;
        auto& [least, most] = rates.try_emplace(device.generation, each, each).first->second;
        least = std::min(least, each);
        most = std::max(most, each);
    }
    CHECK(rates.size() >= 2);
    for (const auto& [generation, range] : rates) {
        INFO(generation);
        CHECK(range.second < 1.5 * range.first);
    }
}

TEST_CASE("a tile has as many output channels as the array makes at once", "[npu]") {
    const auto mapper = mapper_of("npu");
    Rig rig(Family("npu"), 1, 2048);
    own(*rig.device, "sram") = fact(64 * 1024);
    family_fact<std::vector<std::string>>(*rig.device, "tile_orders") = {"output-stationary"};
    Network network;
    const SubgraphWork& work = network.convolution(256, 256, 56, 3);
    const auto* const knows = dynamic_cast<const KnowsTiling*>(&*mapper);
    REQUIRE(knows != nullptr);
    const auto tiled = [&] { return *knows->tiling_of(work, network.work(), rig.machine()); };
    CHECK(tiled().limits.output_grain == 1);
    own(*rig.device, "array_rows") = own(*rig.device, "array_cols") = fact(64);
    CHECK(tiled().limits.output_grain == 64);
    CHECK(tiled().tiling.outputs >= 64);
    own(*rig.device, "output_grain") = fact(16); // what a device states holds
    CHECK(tiled().limits.output_grain == 16);
    own(*rig.device, "output_grain") = {};
    family_fact<bool>(*rig.device, "row_stationary") = true; // its columns take rows of the image
    CHECK(tiled().limits.output_grain == 1);
}
