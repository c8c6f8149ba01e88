// Shares of time: a hand-made estimate, and the law over every device that they add up.

#include "laws/laws.hpp"
#include "result/bound_shares.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

SubgraphEstimate subgraph(double total, double compute, double memory, double overhead) {
    SubgraphEstimate s;
    s.latency_s = total;
    s.lane_s[static_cast<std::size_t>(Lane::compute)] = compute;
    s.lane_s[static_cast<std::size_t>(Lane::memory)] = memory;
    s.lane_s[static_cast<std::size_t>(Lane::overhead)] = overhead;
    return s;
}

} // namespace

TEST_CASE("fixed cost is what the overhead lanes hold, the rest belongs to the larger side", "[bounds]") {
    Result result;
    result.estimate.subgraphs = {subgraph(3e-6, 0.5e-6, 1e-6, 2e-6), subgraph(1e-6, 1e-6, 0.1e-6, 0)};
    const auto shares = bound_shares(result);
    REQUIRE(shares);
    CHECK(shares->overhead == Approx(0.5));
    CHECK(shares->memory == Approx(0.25));
    CHECK(shares->compute == Approx(0.25));
    CHECK(shares->largest() == Bound::overhead);
    CHECK(shares->of(Bound::memory) == Approx(0.25));

    result.estimate.network_s = 4e-6; // outside of every subgraph
    CHECK(bound_shares(result)->overhead == Approx(6.0 / 8));
}

TEST_CASE("parts count with their repeats", "[bounds]") {
    auto part = std::make_shared<Result>();
    part->estimate.subgraphs = {subgraph(1e-6, 1e-6, 0, 0)};
    auto once = std::make_shared<Result>();
    once->estimate.subgraphs = {subgraph(3e-6, 0, 3e-6, 0)};
    Result whole;
    whole.parts = {{"step", 3, part}, {"prompt", 1, once}};
    const auto shares = bound_shares(whole);
    REQUIRE(shares);
    CHECK(shares->compute == Approx(0.5));
    CHECK(shares->memory == Approx(0.5));
}

TEST_CASE("no estimate has no shares", "[bounds]") {
    Result result;
    CHECK_FALSE(bound_shares(result));
    result.estimate.subgraphs = {subgraph(1e-6, 1e-6, 0, 0)};
    result.estimate.status = Status::does_not_fit;
    CHECK_FALSE(bound_shares(result));
}

TEST_CASE("shares of every device add up to one", "[laws][bounds]") {
    const Workload workload{.model = laws::session().load("resnet50")};
    int devices = 0;
    for (const std::string& device : laws::session().hardware().device_ids()) {
        const Result result = laws::session().estimate(workload, device);
        const auto shares = bound_shares(result);
        if (!result.ok())
            continue;
        INFO(device);
        REQUIRE(shares);
        CHECK(shares->compute + shares->memory + shares->overhead == Approx(1));
        CHECK(shares->compute >= 0);
        CHECK(shares->memory >= 0);
        CHECK(shares->overhead >= 0);
        ++devices;
    }
    CHECK(devices > 100);
}

TEST_CASE("what binds an answer does not follow from the number of its tokens", "[laws][bounds]") {
    const auto model = laws::session().load("llama-3-8b");
    for (const char* device : {"TPU-v5p", "TPU-v4", "H100", "EPYC-9654"}) {
        const auto memory = [&](int tokens) {
            const Result result = laws::session().estimate(
                {.model = model, .prompt = Prompt{.tokens = 512, .generate = tokens}}, device);
            REQUIRE(result.ok());
            return bound_shares(result)->memory;
        };
        INFO(device);
        const double few = memory(16), many = memory(256);
        CHECK(many == Approx(few).margin(0.05));
        CHECK(many > 0.5); // every step reads all weights for one row
    }
}

TEST_CASE("devices that share a network over a slow link are bound by their exchange", "[bounds]") {
    Conditions conditions;
    const auto run = [&](double devices) {
        conditions.devices = devices;
        return run_graph(laws::session(), laws::bound("resnet50", 1), "A100-PCIe-80GB", conditions);
    };
    const auto one = bound_shares(run(1)), two = bound_shares(run(2));
    REQUIRE((one && two));
    CHECK(one->exchange == 0);
    CHECK(!one->bound_by_exchange());
    CHECK(two->bound_by_exchange());
    CHECK(two->exchange < two->overhead);
}

TEST_CASE("a device whose host runs most of a network is bound by its host", "[bounds]") {
    Conditions int8;
    int8.precision = PrecisionConfig::uniform(Precision::int8);
    const auto shares = [&](const char* model) {
        return *bound_shares(run_graph(laws::session(), laws::bound(model, 1), "Coral-Edge-TPU", int8));
    };
    CHECK(shares("vit_b_16").bound_by_host());
    CHECK(shares("vit_b_16").binding() == shares("vit_b_16").host);
    CHECK(shares("resnet18").host == 0);
}

TEST_CASE("what computes at a clock that the limit lowers is bound by power", "[bounds]") {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::int8);
    const auto run = [&](std::optional<double> limit_w) {
        conditions.changes.power_limit_w = limit_w;
        return run_graph(laws::session(), laws::bound("resnet50", 1), "KPU-T64@6W", conditions);
    };
    const Result low = run(6);
    REQUIRE(low.estimate.power_limited);
    CHECK(bound_by_power(low));
    CHECK(binding_text(low) == "power limit");
    const Result enough = run(100);
    CHECK_FALSE(bound_by_power(enough));
    CHECK(binding_text(enough) != "power limit");
}

// What an NPU or a pipeline states of its buffers is held against other numbers, and no roof of the estimate.
TEST_CASE("levels whose bandwidth nothing waits for are said", "[bounds]") {
    CHECK(levels_without_time(laws::run("resnet50", "Hailo-8", Precision::int8)).size() == 1);
    CHECK(levels_without_time(laws::run("resnet50", "RK3588-NPU", Precision::int8)).size() == 1);
    const auto on_gpu = levels_without_time(laws::run("resnet50", "H100", Precision::fp16));
    CHECK(std::find(on_gpu.begin(), on_gpu.end(), "L2") == on_gpu.end());
}
