// The algebra of estimates, each identity of its header on numbers worked by hand.

#include "estimate/algebra.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

/// `batch` items in `seconds`, drawing `joules` for arithmetic and as much again for standing by.
Estimate pass(double seconds, double joules, double batch = 1) {
    Estimate e;
    e.batch = batch;
    e.latency_s = seconds;
    e.latency_interval = {seconds / 2, seconds * 2};
    e.throughput_per_s = batch / seconds;
    e.throughput_interval = {e.throughput_per_s / 2, e.throughput_per_s * 2};
    e.energy[Event::mac] = joules;
    e.energy.static_joules = joules;
    e.events[Event::dram_byte] = 100 * joules;
    e.energy_per_inference_j = e.energy.total() / batch;
    e.energy_interval = {e.energy_per_inference_j / 4, e.energy_per_inference_j * 4};
    e.power_w = e.energy.total() / seconds;
    e.peak_power_w = 2 * e.power_w;
    e.utilization = 0.5;
    e.utilization_min = 0.25;
    e.utilization_max = 0.75;
    e.memory = {.weight_bytes = 1000,
                .activation_bytes = 200,
                .live_bytes = 150,
                .kv_cache_bytes = 30,
                .workspace_bytes = 7,
                .peak_bytes = 1237,
                .capacity_bytes = 5000};
    return e;
}

} // namespace

TEST_CASE("algebra: an encoder, then twenty decoder steps", "[algebra][estimate]") {
    const Estimate encoder = pass(3e-3, 30e-3), step = pass(0.5e-3, 4e-3);
    const Stage stages[] = {{&encoder, 1, 0}, {&step, 20, 400}};
    const Estimate w = in_sequence(stages);
    CHECK(w.latency_s == Approx(13e-3));
    CHECK(w.energy.total() == Approx(220e-3));
    CHECK(w.energy[Event::mac] == Approx(110e-3));
    CHECK(w.energy_per_inference_j == Approx(220e-3));
    CHECK(w.power_w == Approx(220e-3 / 13e-3)); // 16.9 W
    CHECK(w.throughput_per_s == Approx(1 / 13e-3));
    CHECK(w.latency_interval.low == Approx(6.5e-3));
    CHECK(w.throughput_interval.high == Approx(2 / 13e-3));
    CHECK(w.energy_interval.high == Approx(880e-3));
    CHECK(w.events[Event::dram_byte] == Approx(100 * 110e-3));
    CHECK(w.utilization == Approx(0.5));
    // 1000 of the encoder, 600 of the step's own; the pools are used in turn.
    CHECK(w.memory.weight_bytes == 1600);
    CHECK(w.memory.peak_bytes == 1600 + 200 + 30 + 7);
    CHECK(w.memory.live_bytes == 150);
}

TEST_CASE("algebra: one stage is itself, a sequence of sequences is flat", "[algebra][estimate]") {
    const Estimate a = pass(1e-3, 1e-3, 4), b = pass(2e-3, 5e-3, 4), c = pass(4e-3, 3e-3, 4);
    const Stage one[] = {{&a, 1, 0}};
    const Estimate same = in_sequence(one);
    CHECK(same.latency_s == a.latency_s);
    CHECK(same.throughput_per_s == Approx(a.throughput_per_s));
    CHECK(same.energy_per_inference_j == Approx(a.energy_per_inference_j));
    CHECK(same.energy_interval.low == Approx(a.energy_interval.low));
    CHECK(same.power_w == Approx(a.power_w));
    CHECK(same.peak_power_w == a.peak_power_w);
    CHECK(same.utilization_min == a.utilization_min);
    CHECK(same.memory.peak_bytes == a.memory.peak_bytes);
    const Stage pair[] = {{&b, 3, 0}, {&c, 1, 0}};
    const Estimate inner = in_sequence(pair);
    const Stage nested[] = {{&a, 1, 0}, {&inner, 2, 0}}, flat[] = {{&a, 1, 0}, {&b, 6, 0}, {&c, 2, 0}};
    const Estimate x = in_sequence(nested), y = in_sequence(flat);
    CHECK(x.latency_s == Approx(y.latency_s));
    CHECK(x.energy.total() == Approx(y.energy.total()));
    CHECK(x.energy_interval.low == Approx(y.energy_interval.low));
    CHECK(x.throughput_per_s == Approx(y.throughput_per_s));
    CHECK(x.utilization == Approx(y.utilization));
    CHECK(x.memory.peak_bytes == y.memory.peak_bytes);
    const Stage five[] = {{&a, 5, 0}};
    const Estimate again = repeated(a, 5), sum = in_sequence(five);
    CHECK(again.latency_s == Approx(sum.latency_s));
    CHECK(again.energy_per_inference_j == Approx(sum.energy_per_inference_j));
    CHECK(again.throughput_interval.low == Approx(sum.throughput_interval.low));
    CHECK(again.power_w == Approx(sum.power_w));
    CHECK(again.events[Event::dram_byte] == Approx(sum.events[Event::dram_byte]));
}

TEST_CASE("algebra: stages of a pipeline take turns, tokens wait for each other", "[algebra][estimate]") {
    Estimate piped = pass(4e-3, 1e-3);
    piped.throughput_per_s = 1000; // a batch every millisecond
    piped.throughput_interval = {500, 2000};
    const Stage stages[] = {{&piped, 2, 0}};
    const Estimate w = in_sequence(stages);
    CHECK(w.latency_s == Approx(8e-3));
    CHECK(w.throughput_per_s == Approx(500));
    CHECK(w.power_w == Approx(4e-3 * 500));
    const Estimate waiting = one_at_a_time(w);
    CHECK(waiting.throughput_per_s == Approx(125));
    CHECK(waiting.power_w == Approx(4e-3 * 125));
    CHECK(waiting.throughput_per_s / waiting.power_w == Approx(1 / waiting.energy_per_inference_j));
}

TEST_CASE("algebra: a stage that fails leaves its reason and the memory of all", "[algebra][estimate]") {
    Estimate good = pass(1e-3, 1e-3), bad = pass(0, 0);
    bad.status = Status::does_not_fit;
    bad.reason = "too large";
    const Stage stages[] = {{&good, 1, 0}, {&bad, 1, 0}};
    const Estimate w = in_sequence(stages);
    CHECK(w.status == Status::does_not_fit);
    CHECK(w.reason == "too large");
    CHECK(w.latency_s == 0);
    CHECK(w.memory.weight_bytes == 2000);
}

TEST_CASE("algebra: a fixed time adds to the time and what flows meanwhile to the energy",
          "[algebra][estimate]") {
    const Estimate e = lengthened(pass(10e-3, 50e-3), 10e-3, 4);
    CHECK(e.latency_s == Approx(20e-3));
    CHECK(e.latency_interval.high == Approx(40e-3));
    CHECK(e.energy.total() == Approx(140e-3));
    CHECK(e.energy_per_inference_j == Approx(140e-3));
    CHECK(e.power_w == Approx(7));
    CHECK(e.utilization == Approx(0.25));
    CHECK(e.network_s == Approx(10e-3));
}
