// One device for several networks: shares of its time, memory of all, slices of a GPU.

#include "answers/compare/duty_cycle.hpp"

#include "archsim/core/finding.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

ModelComparison compared(const char* model, std::vector<std::string> hardware) {
    CompareModelsRequest request;
    request.models = {model};
    request.hardware = std::move(hardware);
    return compare_models(shipped_session(), request);
}

DutyCycle shared(const ModelComparison& c, DutyRequest request, std::size_t i = 0) {
    request = with_companions(shipped_session(), c, std::move(request));
    const std::vector<DutyCycle> all = duty_cycles(c.results, request, {});
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const DutyCycle& d) { return d.result == &c.results[i]; });
    REQUIRE(found != all.end());
    return *found;
}

} // namespace

TEST_CASE("networks share the time and the memory of a device", "[compare][duty]") {
    const ModelComparison c = compared("yolov8n", {"Jetson-Orin-Nano"});
    const double own_s = c.results.front().estimate.latency_s;
    const DutyCycle alone = shared(c, {.every_s = 0.1});
    CHECK(alone.active_share == Approx(own_s / 0.1));
    const DutyCycle both = shared(c, {.every_s = 0.1, .with = {{"resnet50", 0.05}}});
    REQUIRE(both.networks.size() == 2);
    const SharedNetwork& other = both.networks[1];
    CHECK(both.networks[0].share == Approx(alone.active_share));
    CHECK(other.share == Approx(other.latency_s / 0.05));
    CHECK(both.active_share == Approx(alone.active_share + other.share));
    CHECK(both.memory_bytes == Approx(alone.memory_bytes + other.result->estimate.memory.peak_bytes));
    CHECK(both.networks[0].worst_s == Approx(own_s + other.latency_s));
    CHECK(*both.average_w > *alone.average_w);
    CHECK(both.holds());
    // Twice as often is twice the time.
    CHECK(shared(c, {.every_s = 0.1, .with = {{"resnet50", 0.025}}}).networks[1].share ==
          Approx(2 * other.share));
    // Without a rate the first has what the others leave.
    const DutyCycle rest = shared(c, {.with = {{"resnet50", 0.05}}});
    CHECK(rest.active_share == Approx(1));
    CHECK(1 / rest.networks[0].every_s == Approx((1 - other.share) / own_s));
    // More than there is.
    const DutyCycle much = shared(c, {.every_s = 0.1, .with = {{"resnet50", other.latency_s / 2}}});
    CHECK(much.active_share > 1);
    CHECK_FALSE(much.holds());
    CHECK_FALSE(much.average_w);
    CHECK_THAT(in_words(std::span(&much, 1), {.every_s = 0.1, .with = {{"resnet50", 0.05}}}),
               Catch::Contains("too much"));
}

TEST_CASE("weights that a chip keeps come anew where it cannot keep those of all", "[compare][duty]") {
    const ModelComparison c = compared("mobilenet_v2", {"Coral-Edge-TPU"});
    const double own_s = c.results.front().estimate.latency_s;
    const auto with = [&](const char* model) {
        return shared(c, {.every_s = 1, .with = {{model, 1}}}).networks.front().latency_s;
    };
    CHECK(with("squeezenet1_1") == Approx(own_s)); // 3.5 and 1.2 MB of weights in 8
    CHECK(with("resnet50") > 1.5 * own_s);
}

TEST_CASE("a slice has its units and its part of cache and memory", "[hardware][duty]") {
    const HardwareDatabase& database = shipped_session().hardware();
    const DeviceChoice whole = database.device("H100"), part = database.device("H100@1g.10gb");
    CHECK(part.power_mode == "1g.10gb");
    CHECK(part.device->engines.front().count == 16);
    CHECK(part.device->dram->capacity.value == Approx(whole.device->dram->capacity.value / 8));
    CHECK(part.device->dram->bandwidth.value == Approx(whole.device->dram->bandwidth.value / 8));
    CHECK(part.device->level("L1")->capacity.value == whole.device->level("L1")->capacity.value);
    CHECK(part.device->level("L2")->capacity.value == Approx(whole.device->level("L2")->capacity.value / 8));
    CHECK_FALSE(part.device->cloud_price);
    CHECK_THROWS_AS(database.device("L4@1g.10gb"), InputError);
    const Workload network{.model = shipped_session().load("resnet50"), .batch = 8};
    for (const char* gpu : {"A100", "A100-40GB", "H100"}) {
        const std::vector<DeviceSlice>& slices = database.device(gpu).device->slices;
        REQUIRE(slices.size() == 6);
        double before = 1e9;
        for (const DeviceSlice& slice : slices) {
            CAPTURE(gpu, slice.name);
            const Result r = shipped_session().estimate(network, std::string(gpu) + "@" + slice.name, {});
            REQUIRE(r.ok());
            CHECK(r.estimate.latency_s <= before * (1 + 1e-9));
            before = r.estimate.latency_s;
        }
    }
}

TEST_CASE("a slice is as fast as MLPerf measured one", "[hardware][duty]") {
    // inference_results_v1.1, closed/NVIDIA, DGX-A100_A100-SXM-80GB-MIG_1x1g.10gb_TRT,
    // mlperf_log_summary.txt: resnet50 SingleStream mean 653,786 ns, Offline 5316.2 samples/s.
    Conditions int8;
    int8.precision = PrecisionConfig::uniform(Precision::int8);
    Workload network{.model = shipped_session().load("resnet50")};
    const Result single = shipped_session().estimate(network, "A100@1g.10gb", int8);
    CHECK(single.estimate.latency_interval.low < 653.8e-6);
    CHECK(single.estimate.latency_interval.high > 653.8e-6);
    int8.scenario = Scenario::throughput;
    network.batch = 256;
    const Result offline = shipped_session().estimate(network, "A100@1g.10gb", int8);
    CHECK(offline.estimate.throughput_interval.low < 5316);
    CHECK(offline.estimate.throughput_interval.high > 5316);
}

TEST_CASE("networks get the least slices that keep up with them", "[compare][duty]") {
    const ModelComparison c = compared("yolov8n", {"A100"});
    const DutyCycle both = shared(c, {.every_s = 1.0 / 30, .with = {{"resnet50", 0.01}}});
    CHECK(both.networks[0].slice == "1g.10gb");
    CHECK(both.networks[1].slice == "1g.10gb");
    const DutyCycle rest = shared(c, {.with = {{"resnet50", 0.01}}});
    CHECK(rest.networks[0].slice == "4g.40gb"); // what one slice of seven leaves
    const DutyCycle none = shared(c, {.every_s = 1e-6, .with = {{"resnet50", 0.01}}});
    CHECK(none.networks[0].slice.empty());
    CHECK(none.networks[1].slice.empty());
}

TEST_CASE("a companion is a model and how often it runs", "[compare][duty]") {
    CHECK(parse_companion("midas@5fps").every_s == Approx(0.2));
    CHECK(parse_companion("whisper-tiny@30s").every_s == Approx(30));
    CHECK(parse_companion("a@b@200ms").model == "a@b");
    for (const char* wrong : {"midas", "midas@", "@5fps", "midas@5", "midas@0fps", "midas@-1s", "midas@infs"})
        CHECK_THROWS_AS(parse_companion(wrong), UsageError);
}
