// A batch whose activations leave a managed memory runs in pieces.

#include "estimate/batch_pieces.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

/// The same estimate without cutting the batch.
Estimate whole(const Result& r) {
    return estimate(*r.work, *r.machine, {});
}

} // namespace

TEST_CASE("pieces are no slower and spend no more than the whole batch or its half", "[estimate][batch]") {
    std::size_t cut = 0, mixed = 0;
    for (const char* hardware : {"Ethos-N78", "QCS8550", "KPU-T64@6W", "Coral-Edge-TPU", "Vision-Q8"})
        for (const std::string& model : laws::models()) {
            const Result r = laws::run(model, hardware, Precision::int8, 16);
            if (!r.ok() || r.estimate.pieces <= 1)
                continue;
            INFO(model << " on " << hardware);
            ++cut;
            const Estimate& e = r.estimate;
            const Estimate one = whole(r);
            CHECK((e.latency_s < one.latency_s || e.energy_per_inference_j < one.energy_per_inference_j));
            CHECK(e.events[Event::dram_byte] + e.events[Event::host_link_byte] <=
                  one.events[Event::dram_byte] + one.events[Event::host_link_byte]);
            // Large activations come first, large weights last: no layer runs in more pieces than one before.
            const auto more = [](const SubgraphEstimate& a, const SubgraphEstimate& b) {
                return a.pieces < b.pieces;
            };
            CHECK(std::adjacent_find(e.subgraphs.begin(), e.subgraphs.end(), more) == e.subgraphs.end());
            mixed += e.subgraphs.front().pieces > e.subgraphs.back().pieces;
            for (const SubgraphEstimate& s : e.subgraphs)
                CHECK(16 / s.pieces == static_cast<int>(16 / s.pieces));
            // Work does not depend on the cut.
            const auto int8 = static_cast<std::size_t>(Precision::int8);
            CHECK(e.events.macs[int8] == Approx(one.events.macs[int8]));
        }
    CHECK(cut >= 10);
    CHECK(mixed >= 3);
}

TEST_CASE("batches without small divisors are cut too", "[estimate][batch]") {
    const Result seven = laws::run("mobilenet_v2", "Ethos-U55-256", Precision::int8, 7);
    REQUIRE(seven.ok());
    CHECK(seven.estimate.pieces == 7);
    CHECK(laws::bound("mobilenet_v2", 15)->divided(3)->graph().dims.at("batch") == 5);
    CHECK(laws::bound("mobilenet_v2", 15)->divided(5)->graph().dims.at("batch") == 3);
    CHECK(laws::bound("mobilenet_v2", 15)->divided(2) == nullptr);
    CHECK(laws::bound("mobilenet_v2", 1)->divided(1) == nullptr);
}

TEST_CASE("processors with caches and batches that fit run whole", "[estimate][batch]") {
    for (const char* hardware : {"A100", "Xeon-8480+"})
        CHECK(laws::run("resnet50", hardware, Precision::int8, 32).estimate.pieces == 1);
    // 4 images of 1.5 MB live activations in 128 MiB.
    CHECK(laws::run("mobilenet_v2", "TPU-v4i", Precision::int8, 4).estimate.pieces == 1);
}
