// Where a batch is cut, from stated counts, worked by hand.

#include "counted_network.hpp"
#include "estimate/batch_pieces.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

Mapping layer(double compute_ms, double dram_ms, double weights_ms) {
    Mapping m;
    m.add(Resource::matrix_cycles, Lane::compute, compute_ms * 1e6);
    m.add(Resource::dram_bytes, Lane::memory, dram_ms * 1e9);
    m.add(Resource::weight_bytes, Lane::memory, weights_ms * 1e9);
    m.events[Event::dram_byte] = (dram_ms + weights_ms) * 1e9;
    m.events.mac(Precision::fp16) = compute_ms * 1e9;
    m.ideal_cycles = compute_ms * 1e6;
    return m;
}

/// Two images. The first layer's activations leave the chip where both run together, the second is bound by
/// 6 ms of weights: together 20 + 6 ms, one by one 2 x (5 + 6), and cut between them 10 + 6 and what crosses.
struct TwoImages {
    CountedNetwork both{2, 2};
    std::shared_ptr<CountedNetwork> one = std::make_shared<CountedNetwork>(2, 1);
    std::shared_ptr<StatedCounts> counts = std::make_shared<StatedCounts>();
    std::vector<Mapping> whole{layer(10, 20, 0), layer(4, 0, 6)}, piece{layer(5, 0, 0), layer(2, 0, 6)};
    Machine machine = priced_machine(counts);
    double crossing_ms = 1;

    TwoImages() {
        auto device = std::make_shared<Device>(*machine.device);
        device->family = Family("npu");
        own(*device, "sram") = fact(7e9);
        machine.device = device;
        machine.static_power_w = 0;
        both.work.subgraphs[1].weight_bytes = one->work.subgraphs[1].weight_bytes = 6e9;
    }
    BatchSchedule schedule(double clock_ratio = 1) {
        both.work.memory.crossing = {0, crossing_ms * 1e9};
        counts->of_batch(2, whole);
        counts->of_batch(1, piece);
        EstimateOptions options;
        options.smaller_batch = [this](std::size_t parts) -> std::shared_ptr<const NetworkWork> {
            return parts == 2 ? std::shared_ptr<const NetworkWork>(one, &one->work) : nullptr;
        };
        return schedule_at(BatchCounts().of(both.work, machine, options), machine, clock_ratio).schedule;
    }
};

using Pieces = std::vector<double>;

double amount(const Mapping& m, Resource resource) {
    double total = 0;
    for (const Demand& d : m.all())
        if (d.resource == resource)
            total += d.amount;
    return total;
}

} // namespace

TEST_CASE("pieces: large activations one by one, large weights for both", "[formulas][batch]") {
    TwoImages images;
    const BatchSchedule s = images.schedule();
    CHECK(s.pieces == Pieces{2, 1});
    // The first layer twice, and what crosses the cut is written by it and read by the second.
    CHECK(amount(s.of(0), Resource::matrix_cycles) == 10e6);
    CHECK(amount(s.of(0), Resource::dram_bytes) == 1e9);
    CHECK(s.of(0).events[Event::dram_byte] == 1e9);
    CHECK(s.of(0).events.macs[static_cast<std::size_t>(Precision::fp16)] == 10e9);
    CHECK(s.of(0).ideal_cycles == 10e6);
    CHECK(amount(s.of(1), Resource::matrix_cycles) == 4e6);
    CHECK(amount(s.of(1), Resource::dram_bytes) == 1e9);
    CHECK(amount(s.of(1), Resource::weight_bytes) == 6e9);
    CHECK(s.of(1).events[Event::dram_byte] == 7e9);
    CHECK(s.mappings.size() == 2); // others are dropped
}

TEST_CASE("pieces: the cut is made where it is fastest", "[formulas][batch]") {
    // 10 + 6 and twice what crosses (behind 10 ms of arithmetic in the first layer, after the weights in the
    // second) against 22 in pieces and 26 together.
    TwoImages images;
    images.machine.energy = nullptr;
    images.crossing_ms = 5.9;
    CHECK(images.schedule().pieces == Pieces{2, 1}); // 10 + 11.9
    images.crossing_ms = 6.1;
    CHECK(images.schedule().pieces == Pieces{2, 2}); // 22 against 10 + 12.1
    images.whole[0] = layer(10, 15.9, 0);            // together 21.9
    CHECK(images.schedule().pieces == Pieces{1, 1});
    images.whole[0] = layer(10, 16.1, 0);
    CHECK(images.schedule().pieces == Pieces{2, 2});
    // Half the clock: arithmetic 20 ms, traffic as before: 10 x 2 + 6 + 6.1 cut, 20 + 12 in pieces (weights
    // hide the second layer's arithmetic), 20 + 8 together.
    CHECK(images.schedule(0.5).pieces == Pieces{1, 1});
}

TEST_CASE("pieces: of equals the whole batch", "[formulas][batch]") {
    TwoImages images;
    images.machine.energy = nullptr;
    images.whole[0] = layer(10, 16, 0);
    images.crossing_ms = 1000;
    CHECK(images.schedule().pieces == Pieces{1, 1});
    // Also where both take the same energy.
    images.machine.energy = priced_machine(nullptr).energy;
    images.whole = {layer(10, 16, 0), layer(4, 0, 0)};
    images.piece = {layer(5, 8, 0), layer(2, 0, 0)};
    CHECK(images.schedule().pieces == Pieces{1, 1});
}

TEST_CASE("pieces: a cut costs no more energy than it saves in time", "[formulas][batch]") {
    // 15 GFLOP-like products at 2 pJ and 10 pJ a byte: pieces 14 G x 2 pJ + 12 GB x 10 pJ = 148 mJ in 22 ms;
    // the cut 28 + 10 x (6 + 2 x crossing) mJ in 16 + crossing ms. With 3.7 GB that is 162 x 19.7 = 3.19 mJs
    // against 3.26, with 3.9 GB 166 x 19.9 = 3.30.
    TwoImages images;
    images.crossing_ms = 3.7;
    CHECK(images.schedule().pieces == Pieces{2, 1});
    images.crossing_ms = 3.9;
    CHECK(images.schedule().pieces == Pieces{2, 2});
    // Static power makes the faster of the two the thriftier one: 0.1 J per ms.
    images.machine.static_power_w = 100;
    CHECK(images.schedule().pieces == Pieces{2, 1});
}

TEST_CASE("pieces: where the power limit binds, energy sets the time", "[formulas][batch]") {
    // As before with 2.9 GB: 146 mJ against 148; the limit leaves 5 W, 29 s and 30 s. Bytes that cost ten
    // times as much raise the cut's 28 + 118 mJ less than the pieces' 28 + 120.
    TwoImages images;
    images.crossing_ms = 2.9;
    images.machine.power_limit_w = 15;
    images.machine.static_power_w = 10;
    CHECK(images.schedule().pieces == Pieces{2, 1});
    images.crossing_ms = 3.1; // faster on paper, but the energy decides
    CHECK(images.schedule().pieces == Pieces{2, 2});
}

TEST_CASE("pieces: fixed times are paid once, transfers by every piece", "[formulas][batch]") {
    TwoImages images;
    images.machine.energy = nullptr;
    images.crossing_ms = 1000;
    Mapping& fixed = images.counts->network.fixed;
    fixed.add(Resource::seconds, Lane::overhead, 1e-3, 1, Parameter::inference_overhead);
    fixed.add(Resource::seconds, Lane::overhead, 2e-3, 1, Parameter::host_time);
    fixed.add(Resource::seconds, Lane::overhead, 0.5e-3);
    fixed.events[Event::configuration_byte] = 7;
    const BatchSchedule s = images.schedule();
    REQUIRE(s.pieces == Pieces{2, 2});
    CHECK(s.network.fixed.demands[0].amount == 1e-3);
    CHECK(s.network.fixed.demands[1].amount == 2e-3);
    CHECK(s.network.fixed.demands[2].amount == 1e-3);
    CHECK(s.network.fixed.events[Event::configuration_byte] == 14);
    // 4.1 ms of them for two pieces tip the balance: 22 + 4.1 against 26.
    fixed.demands[2].amount = 4.1e-3;
    images.whole[0] = layer(10, 19.9, 0);
    CHECK(images.schedule().pieces == Pieces{1, 1});
    fixed.demands[2].amount = 3.8e-3;
    CHECK(images.schedule().pieces == Pieces{2, 2});
}

TEST_CASE("pieces: weights that run ahead of the network bind it as a whole", "[formulas][batch]") {
    // Prefetched over the network: together max(20 + 4, 6) = 24, in pieces max(14, 12) = 14.
    TwoImages images;
    images.machine.energy = nullptr;
    auto stack = std::make_shared<Runtime>();
    stack->weight_prefetch = WeightPrefetch::network;
    images.machine.runtime = stack;
    images.crossing_ms = 1000;
    CHECK(images.schedule().pieces == Pieces{2, 2});
    images.whole[0] = layer(10, 8, 0); // max(10 + 4, 6): the same
    CHECK(images.schedule().pieces == Pieces{1, 1});
    // Weights that bind: together max(9 + 2, 6), in pieces max(2 x 2, 2 x 6).
    images.whole = {layer(2, 9, 0), layer(2, 0, 6)};
    images.piece = {layer(1, 0, 0), layer(1, 0, 6)};
    CHECK(images.schedule().pieces == Pieces{1, 1});
}

TEST_CASE("pieces: repeated layers count every time, what crosses once", "[formulas][batch]") {
    TwoImages images;
    images.both.work.subgraphs[0].repeat = images.one->work.subgraphs[0].repeat = 4;
    images.crossing_ms = 2;
    const BatchSchedule s = images.schedule();
    CHECK(s.pieces == Pieces{2, 1});
    CHECK(amount(s.of(0), Resource::dram_bytes) == 0.5e9); // times 4
    CHECK(amount(s.of(1), Resource::dram_bytes) == 2e9);
}

TEST_CASE("pieces: a batch that is bound by compute runs in them where they are faster",
          "[formulas][batch]") {
    TwoImages images; // 10 ms for both where one takes 4
    images.whole = {layer(10, 0, 0), layer(4, 0, 0)};
    images.piece = {layer(4, 0, 0), layer(2, 0, 0)};
    CHECK(images.schedule().pieces == Pieces{2, 2});
}
