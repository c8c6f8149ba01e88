// Limits, the Pareto front and the choice under them.

#include "archsim/compare/decisions.hpp"
#include "archsim/core/finding.hpp"
#include "report/blocks/metric_text.hpp"
#include "result/decisions.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

/// A result with given energy (J), latency (s) and power (W); intervals +- 10 %.
Result made(double energy, double latency, double power) {
    Result r;
    Estimate& e = r.estimate;
    e.energy_per_inference_j = energy;
    e.latency_s = latency;
    e.throughput_per_s = 1 / latency;
    e.power_w = power;
    e.memory.peak_bytes = 1e6;
    e.energy_interval = {0.9 * energy, 1.1 * energy};
    e.latency_interval = {0.9 * latency, 1.1 * latency};
    e.throughput_interval = {1 / (1.1 * latency), 1 / (0.9 * latency)};
    return r;
}

} // namespace

TEST_CASE("limits are read with their units", "[decisions]") {
    CHECK(parse_constraint(metric::latency, "50ms", "--max-latency").limit == Approx(0.05));
    CHECK(parse_constraint(metric::latency, "2 us", "--max-latency").limit == Approx(2e-6));
    CHECK(parse_constraint(metric::power, "15W", "--max-power").limit == 15);
    CHECK(parse_constraint(metric::energy, "100mJ", "--max-energy").limit == Approx(0.1));
    CHECK(parse_constraint(metric::memory, "512MB", "--max-memory").limit == 512e6);
    CHECK(parse_constraint(metric::memory, "1GiB", "--max-memory").limit == 1024.0 * 1024 * 1024);
    CHECK(parse_constraint(metric::throughput, "10k", "--min-throughput").limit == 10000);
    CHECK(parse_constraint(metric::cost, "0.25", "--max-cost").limit == Approx(0.25e-6));
    CHECK(parse_constraint(metric::cost, "$1,000", "--max-cost").limit == Approx(1e-3));
    // An amount stands beside its limit in the same unit.
    CHECK(format_value(metric::cost, 7e-3) == "$7000 per million inferences");
    CHECK(format_value(metric::cost, 5e-6) == "$5.00 per million inferences");
    for (const char* text : {"", "fast", "50", "50W", "-3ms", "0ms", "nanms", "1e999s", "5ms5"})
        CHECK_THROWS_AS(parse_constraint(metric::latency, text, "--max-latency"), UsageError);
}

TEST_CASE("verdicts carry their headroom, and say when the limit lies in the interval", "[decisions]") {
    const std::vector<Result> results = {made(1, 0.010, 100), made(2, 0.019, 105)};
    DecisionRequest request;
    request.constraints = {{&metric::latency, 0.020}, {&metric::throughput, 80}};
    const Decision d = decide(results, request);
    CHECK(d.verdicts[0][0].met);
    CHECK(d.verdicts[0][0].certain);
    CHECK(d.verdicts[0][0].headroom == Approx(0.5));
    CHECK(d.verdicts[0][1].headroom == Approx(0.25));
    CHECK(d.verdicts[1][0].met);
    CHECK_FALSE(d.verdicts[1][0].certain); // 17.1 to 20.9 ms
    // Student of 4 degrees at 2.132 ln(20 / 19) / ln 1.1 = 1.147
    CHECK(d.verdicts[1][0].probability == Approx(0.842).epsilon(0.002));
    CHECK(d.verdicts[0][0].probability > 0.999);
    CHECK_FALSE(d.verdicts[1][1].met); // 52.6 of 80 per second
    CHECK(d.verdicts[1][1].headroom == Approx(1 / 0.019 / 80 - 1));
    CHECK(d.qualifies == std::vector<bool>{true, false});
    REQUIRE(d.recommended);
    CHECK(d.recommended->best == 0);
    CHECK(d.recommended->tied.empty());
    CHECK_FALSE(d.nearest);
}

TEST_CASE("none qualifies: the nearest is the one with the smallest shortfall", "[decisions]") {
    std::vector<Result> results = {made(1, 0.030, 100), made(2, 0.022, 90), made(1, 0.001, 10)};
    results[2].estimate.status = Status::does_not_fit;
    DecisionRequest request;
    request.constraints = {{&metric::latency, 0.020}};
    const Decision d = decide(results, request);
    CHECK_FALSE(d.recommended);
    REQUIRE(d.nearest);
    CHECK(d.nearest->result == 1);
    CHECK(d.verdicts[1][0].headroom == Approx(-0.1));
    CHECK_FALSE(d.verdicts[2][0].value);
}

TEST_CASE("the front holds what nothing beats in everything; equal points stay", "[decisions]") {
    const std::vector<Result> results = {made(1, 4, 1), made(2, 2, 1), made(3, 3, 1), made(4, 1, 1),
                                         made(1, 4, 1)};
    DecisionRequest request;
    request.pareto = {&metric::energy, &metric::latency};
    CHECK(decide(results, request).on_front == std::vector<bool>{true, true, false, true, true});
}

TEST_CASE("overlapping intervals tie the recommendation", "[decisions]") {
    const std::vector<Result> results = {made(1, 1.05, 1), made(1, 1.0, 1), made(1, 2.0, 1)};
    const Decision d = decide(results, {});
    REQUIRE(d.recommended);
    CHECK(d.recommended->best == 1);
    CHECK(d.recommended->tied == std::vector<std::size_t>{0});
}
