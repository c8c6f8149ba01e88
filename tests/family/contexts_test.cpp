#include "family/contexts.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace archsim::npu;

namespace {

std::vector<Stage> random_stages(std::mt19937& random) {
    std::vector<Stage> stages(1 + random() % 120);
    for (Stage& stage : stages) {
        stage.work = static_cast<double>(random() % 1'000'000);
        stage.controllers = static_cast<double>(random() % 4);
        stage.per_controller = static_cast<double>(random() % 12);
        stage.floor = static_cast<double>(random() % 5000);
        stage.pooled = static_cast<double>(random() % 500);
        stage.weights = static_cast<double>(random() % 100'000);
        stage.crossing = static_cast<double>(random() % 100'000);
    }
    return stages;
}

double in_turn(const Plan& plan) {
    return plan.cycles + 1000 * static_cast<double>(plan.contexts.size()) + 0.25 * plan.crossing_bytes;
}

/// The least of cycles and a quarter of the crossing bytes over every way to cut the stages, tried one by
/// one; none where a stage fits no context.
double least_of_all(const std::vector<Stage>& stages, const Capacity& capacity) {
    double least = 1e300;
    for (unsigned cuts = 0; cuts < 1U << (stages.size() - 1); ++cuts) {
        double cycles = 0;
        for (std::size_t first = 0, i = 0; i < stages.size(); ++i)
            if (i + 1 == stages.size() || (cuts >> i & 1U) != 0) {
                const double interval = shortest_interval({stages.data() + first, i + 1 - first}, capacity);
                cycles += interval > 0 ? interval : 1e300;
                cycles += first > 0 ? 0.25 * 2 * stages[first].crossing : 0;
                first = i + 1;
            }
        least = std::min(least, cycles);
    }
    return least;
}

} // namespace

TEST_CASE("a layer takes whole units, and a controller for each few of them", "[npu]") {
    Stage stage;
    stage.work = 1000;
    const Capacity capacity{512, 128, 8, 1e6};
    CHECK(needs_of(stage, capacity, 90).units == 12);
    CHECK(needs_of(stage, capacity, 90).controllers == 3); // two parts and what joins them
    CHECK(needs_of(stage, capacity, 125).controllers == 1);
    stage.per_controller = 2; // 16 output channels, eight to a unit
    CHECK(needs_of(stage, capacity, 250).controllers == 3);
    stage.controllers = 0; // decodes what comes out: no layer
    CHECK(needs_of(stage, capacity, 90).units == 0);
}

TEST_CASE("the interval of layers side by side is what the tightest resource allows", "[npu]") {
    std::vector<Stage> stages(4);
    for (Stage& stage : stages)
        stage.work = 1000;
    // 16 units: four each. With four controllers of two units no layer has more than two.
    CHECK(shortest_interval(stages, {16, 100, 8, 1}) == Approx(250).epsilon(0.01));
    CHECK(shortest_interval(stages, {16, 4, 2, 1}) == Approx(500).epsilon(0.01));
    stages[2].floor = 700;
    CHECK(shortest_interval(stages, {16, 100, 8, 1}) == Approx(700).epsilon(0.01));
    for (Stage& stage : stages)
        stage.pooled = 300; // what all draw on adds up
    CHECK(shortest_interval(stages, {16, 100, 8, 1}) == Approx(1200).epsilon(0.01));
    CHECK(shortest_interval(stages, {16, 3, 8, 1}) == 0); // more layers than controllers
    stages[0].weights = 2;
    CHECK(shortest_interval(stages, {16, 100, 8, 1}) == 0);
    CHECK(shortest_interval(stages, {0, 0, 0, 2}) == Approx(4000)); // shared in any parts
}

TEST_CASE("contexts hold every layer once, in order, within what they may fill", "[npu]") {
    std::mt19937 random(50);
    for (int i = 0; i < 200; ++i) {
        const std::vector<Stage> stages = random_stages(random);
        const Capacity capacity{64.0 + static_cast<double>(random() % 512),
                                8.0 + static_cast<double>(random() % 128), 8, 2e6};
        std::size_t next = 0;
        for (const Context& context : plan_contexts(stages, capacity, in_turn).contexts) {
            REQUIRE(context.first == next);
            REQUIRE(context.count > 0);
            next += context.count;
            double units = 0, controllers = 0, weights = 0;
            for (std::size_t s = context.first; s < next; ++s) {
                const Needs needs = needs_of(stages[s], capacity, context.interval);
                units += needs.units;
                controllers += needs.controllers;
                weights += stages[s].weights;
            }
            CHECK((context.count == 1 || units <= capacity.units));
            CHECK((context.count == 1 || controllers <= capacity.controllers));
            CHECK((context.count == 1 || weights <= capacity.weights));
        }
        CHECK(next == stages.size());
    }
}

TEST_CASE("no way to cut the layers takes less than the one that is chosen", "[npu]") {
    std::mt19937 random(51);
    for (int i = 0; i < 100; ++i) {
        std::vector<Stage> stages = random_stages(random);
        stages.resize(std::min<std::size_t>(stages.size(), 8));
        const Capacity capacity{24, 8, 8, 4e5};
        const double least = least_of_all(stages, capacity);
        if (least >= 1e300)
            continue;
        const auto time_of = [](const Plan& plan) { return plan.cycles + 0.25 * plan.crossing_bytes; };
        CHECK(time_of(plan_contexts(stages, capacity, time_of)) == Approx(least).epsilon(1e-9));
    }
}

TEST_CASE("more bandwidth at the border never lengthens what contexts take", "[npu]") {
    std::mt19937 random(52);
    for (int i = 0; i < 100; ++i) {
        const std::vector<Stage> stages = random_stages(random);
        const Capacity capacity{128, 64, 8, 2e6};
        const auto with = [](double per_byte) {
            return [=](const Plan& plan) { return std::max(plan.cycles, plan.crossing_bytes * per_byte); };
        };
        CHECK(with(0.05)(plan_contexts(stages, capacity, with(0.05))) <=
              with(0.1)(plan_contexts(stages, capacity, with(0.1))));
    }
}

TEST_CASE("more units, controllers or room for weights never lengthen the interval", "[npu]") {
    std::mt19937 random(53);
    for (int i = 0; i < 200; ++i) {
        const std::vector<Stage> stages = random_stages(random);
        const Capacity small{256, 128, 8, 4e6};
        const double before = shortest_interval(stages, small);
        if (before == 0)
            continue;
        for (const Capacity& large : {Capacity{512, 128, 8, 4e6}, Capacity{256, 256, 8, 4e6},
                                      Capacity{256, 128, 8, 8e6}, Capacity{256, 128, 16, 4e6}}) {
            const double after = shortest_interval(stages, large);
            CHECK(after > 0);
            CHECK(after <= before);
        }
    }
}
