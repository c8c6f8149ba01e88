// One device for several networks: shares of its time, memory of all, slices of a GPU.

#include "answers/compare/compare_models_report.hpp"
#include "answers/compare/duty_cycle.hpp"

#include "archsim/compare/cost.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/core/finding.hpp"
#include "fields/question.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ranking.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

CompareModelsRequest asked(const char* model, std::vector<std::string> hardware, Duty duty = {}) {
    CompareModelsRequest request;
    request.models = {model};
    request.hardware = std::move(hardware);
    request.conditions.duty = std::move(duty);
    return request;
}

ModelComparison compared(const char* model, std::vector<std::string> hardware, Duty duty = {}) {
    return compare_models(shipped_session(), asked(model, std::move(hardware), std::move(duty)));
}

/// Of one device, with the results that it points to.
struct Shared {
    ModelComparison c;
    std::vector<Result> slices;
    DutyCycle cycle;
};

Shared shared(const char* model, const char* hardware, Duty duty) {
    Shared all{compared(model, {hardware}, std::move(duty)), {}, {}};
    all.slices = on_slices(shipped_session(), all.c);
    all.cycle = duty_cycles(all.c.results, all.slices, {}).front();
    return all;
}

} // namespace

TEST_CASE("networks share the time and the memory of a device", "[compare][duty]") {
    const auto at = [](Duty duty) { return shared("yolov8n", "Jetson-Orin-Nano", std::move(duty)); };
    const Shared one = at({.every_s = 0.1}), two = at({.every_s = 0.1, .with = {{"resnet50", 0.05}}});
    const DutyCycle &alone = one.cycle, &both = two.cycle;
    const double own_s = one.c.results.front().estimate.latency_s;
    CHECK(alone.active_share == Approx(own_s / 0.1));
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
    CHECK(at({.every_s = 0.1, .with = {{"resnet50", 0.025}}}).cycle.networks[1].share ==
          Approx(2 * other.share));
    // Without a rate the first has what the others leave.
    const Shared rest = at({.with = {{"resnet50", 0.05}}});
    CHECK(rest.cycle.active_share == Approx(1));
    CHECK(1 / rest.cycle.networks[0].every_s == Approx((1 - other.share) / own_s));
    // More than there is.
    const Shared much = at({.every_s = 0.1, .with = {{"resnet50", other.latency_s / 2}}});
    CHECK(much.cycle.active_share > 1);
    CHECK_FALSE(much.cycle.holds());
    CHECK_FALSE(much.cycle.average_w);
    CHECK_THAT(in_words(std::span(&much.cycle, 1), much.c.results, decide(much.c.results, {})),
               Catch::Contains("too much"));
}

TEST_CASE("power, energy and money at a rate are those of all the time", "[compare][duty]") {
    const double every_s = 0.1;
    const ModelComparison busy = compared("mobilenet_v2", {"Coral-Edge-TPU"}),
                          c = compared("mobilenet_v2", {"Coral-Edge-TPU"}, {.every_s = every_s});
    const Result &before = busy.results.front(), &now = c.results.front();
    const double work_j = *value_of(before, metric::energy), latency_s = *value_of(before, metric::latency);
    const DutyCycle cycle = duty_cycle(now, {});
    CHECK(*value_of(now, metric::power) ==
          Approx(work_j / every_s + *cycle.idle_w * (1 - latency_s / every_s)));
    CHECK(*value_of(now, metric::energy) == Approx(*value_of(now, metric::power) * every_s));
    CHECK(*value_of(now, metric::efficiency) == Approx(1 / *value_of(now, metric::energy)));
    CHECK(cycle.work_w == Approx(*value_of(before, metric::power)));
    CHECK(*value_of(now, metric::latency) == latency_s);
    const Cost cost = cost_of(now, {});
    CHECK(cost.average_per_s == Approx(1 / every_s));
    CHECK(*cost.capital * 4 * kHoursPerYear * 3600 / every_s == Approx(now.device->list_price->amount.value));
}

TEST_CASE("what cannot keep up misses a limit", "[compare][duty]") {
    constexpr const char *kSlow = "Jetson-Orin-Nano@7W", *kFast = "Jetson-Orin-Nano@25W";
    const double slow_s = compared("yolov8n", {kSlow}).results.front().estimate.latency_s;
    const Duty duty{.every_s = slow_s / 1.2};
    const ModelComparison c = compared("yolov8n", {kSlow, kFast}, duty);
    const Decision decision = decide(c.results, c.request.decision);
    CHECK(decision.qualifies == std::vector<bool>{false, true});
    CHECK(*decision.verdicts[0][0].value == Approx(1.2));
    CHECK(decision.recommended->best == 1);
    for (const Metric* m : {&metric::power, &metric::energy, &metric::efficiency, &metric::cost})
        CHECK_FALSE(value_of(c.results[0], *m));
    // Alone, the power modes that do keep up are told, as of any limit.
    const ModelComparison alone = compared("yolov8n", {kSlow}, duty);
    CHECK_FALSE(alone.modes.front().empty());
    const Decision none = decide(alone.results, alone.request.decision);
    CHECK_FALSE(none.recommended);
    REQUIRE(none.nearest);
    CHECK(*none.request.constraints[none.nearest->constraint].metric == metric::time_at_work);
    // Companions count as much as the rate itself.
    const ModelComparison full = compared("yolov8n", {kFast}, {.with = {{"resnet50", 1e-5}}});
    CHECK_FALSE(decide(full.results, {}).qualifies.front());
}

TEST_CASE("a rate up to the throughput that is stated is kept, and a refusal names the one that fits",
          "[compare][duty]") {
    for (const char* device : {"Hailo-8", "RK3588-NPU", "H100"})
        for (const Scenario scenario : {Scenario::latency, Scenario::throughput}) {
            CAPTURE(device, scenario == Scenario::latency);
            const auto at = [&](double per_s) {
                CompareModelsRequest request =
                    asked("yolov8n", {device}, {.every_s = per_s > 0 ? 1 / per_s : 0});
                request.conditions.scenario = scenario;
                return compare_models(shipped_session(), request);
            };
            const double most = at(0).results.front().estimate.throughput_per_s;
            const ModelComparison kept = at(0.999 * most), late = at(1.001 * most);
            CHECK(decide(kept.results, {}).qualifies.front());
            CHECK(duty_cycle(kept.results.front(), {}).work_w ==
                  Approx(kept.results.front().estimate.power_w));
            CHECK_FALSE(decide(late.results, {}).qualifies.front());
            const DutyCycle duty = duty_cycle(late.results.front(), {});
            CHECK(duty.most_per_s() == Approx(most));
            CHECK_THAT(in_words(std::span(&duty, 1), late.results, decide(late.results, {})),
                       Catch::Contains("/s would fit"));
            // One after another is too slow: work ahead is tried.
            if (scenario == Scenario::latency)
                CHECK(std::any_of(late.modes.front().begin(), late.modes.front().end(), [](const Result& r) {
                    return r.conditions.scenario == Scenario::throughput;
                }));
        }
}

TEST_CASE("a limit on power holds for the average, of what keeps up first", "[compare][duty]") {
    CompareModelsRequest request = asked("yolov8n", {"Jetson-Orin-Nano@15W"}, {.every_s = 1.0 / 30});
    const double limit_w = 5;
    request.decision.constraints = {{&metric::power, limit_w}};
    const ModelComparison c = compare_models(shipped_session(), request);
    CHECK(c.results.front().estimate.power_w > limit_w);
    CHECK(decide(c.results, c.request.decision).qualifies.front());
}

TEST_CASE("what a rate leaves stands in every format, with what was asked", "[compare][duty]") {
    const ModelComparison c =
        compared("yolov8n", {"Jetson-Orin-Nano@15W"}, {.every_s = 1.0 / 30, .battery_wh = 50});
    const DutyCycle duty = duty_cycle(c.results.front(), {});
    const auto document = nlohmann::json::parse(to_json(c));
    CHECK(document["request"]["fps"] == 30);
    CHECK(document["request"]["battery"] == "50Wh");
    CHECK(document["decisions"][0]["constraints"][0]["metric"] == "time_at_work");
    const auto& row = document["results"][0];
    CHECK(row["power_w"].get<double>() == Approx(*duty.average_w));
    CHECK(row["work_power_w"].get<double>() == Approx(duty.work_w));
    CHECK(row["battery_hours"].get<double>() == Approx(50 / *duty.average_w));
    const std::string csv = render(describe(c, {}, Format::csv), Format::csv);
    for (const char* column :
         {"time_at_work", "work_power_w", "idle_power_w", "idle_energy_j", "battery_hours"})
        CHECK_THAT(csv, Catch::Contains(column));
    CHECK_THAT(render(describe(c), Format::text), Catch::Contains("h on the battery"));
}

TEST_CASE("who sleeps is not ranked above who is counted awake without a word", "[compare][duty]") {
    const auto line = [](std::vector<std::string> hardware, double idle_w) {
        const ModelComparison c =
            compared("ds-cnn", std::move(hardware), {.every_s = 10, .battery_wh = 1, .idle_w = idle_w});
        const std::vector<DutyCycle> cycles = duty_cycles(c.results, {}, {});
        const Decision decision = decide(c.results, c.request.decision);
        return in_words(cycles, c.results, decision) + may_sleep_text(cycles, c.results, decision);
    };
    const std::vector<std::string> both = {"ESP32-S3", "STM32N6"};
    CHECK_THAT(line(both, 0), Catch::Contains("STM32N6 may draw less asleep"));
    CHECK_THAT(line({"STM32N6"}, 0), Catch::Contains(" awake, "));
    for (const std::string& said : {line(both, 1e-5), line({"STM32N6"}, 1e-5), line({"STM32U575"}, 0)})
        CHECK_THAT(said, !Catch::Contains("awake") && !Catch::Contains("asleep"));
    // From the inferences alone to clocks up: the estimates do not tell the two apart.
    const ModelComparison apart =
        compared("mobilenet_v2", {"ESP32-S3", "STM32N6"}, {.every_s = 10, .battery_wh = 1});
    const auto awake = measure_of(apart.results[1], metric::power);
    CHECK(*awake->asleep == Approx(duty_cycle(apart.results[1], {}).active_w));
    CHECK(*awake->asleep < *value_of(apart.results[0], metric::power));
    CHECK(rank_results(apart.results, metric::power)[1].tied);
    CHECK(usual_order(apart.results, apart.request.conditions) == metric::power); // what a battery is about
    // Micro-amperes of a data sheet, not the clocks of a waiting processor: years on a coin cell.
    const ModelComparison c = compared("ds-cnn", {"STM32U575"}, {.every_s = 3600, .battery_wh = 0.8325});
    CHECK(*duty_cycle(c.results.front(), {}).battery_hours > 24 * 365);
}

TEST_CASE("no device draws more asleep than awake", "[hardware][laws]") {
    std::vector<Finding> findings;
    int asleep = 0;
    for (const auto& device : shipped_session().hardware().all_devices(findings))
        if (device->idle.known() && device->active_idle.known()) {
            INFO(device->id);
            CHECK(device->idle.value <= device->active_idle.value);
            ++asleep;
        }
    CHECK(asleep >= 6);
}

TEST_CASE("a chip in a computer is named as it was asked for", "[compare]") {
    const ModelComparison c = compared("resnet18", {"Hailo-8", "Raspberry Pi 5 + Hailo-8"});
    CHECK(hardware_labels(c.results) == std::vector<std::string>{"Hailo-8", "Raspberry Pi 5 + Hailo-8"});
}

TEST_CASE("weights that a chip keeps come anew where it cannot keep those of all", "[compare][duty]") {
    const auto with = [&](const char* model) {
        const Shared s = shared("mobilenet_v2", "Coral-Edge-TPU", {.every_s = 1, .with = {{model, 1}}});
        return s.cycle.networks.front().latency_s / s.c.results.front().estimate.latency_s;
    };
    CHECK(with("squeezenet1_1") == Approx(1)); // 3.5 and 1.2 MB of weights in 8
    CHECK(with("resnet50") > 1.5);
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
    REQUIRE(part.device->cloud_price);
    CHECK_FALSE(part.device->cloud_price->amount.known());
    CHECK(pue_of(*part.device, 0) == pue_of(*whole.device, 0)); // in the same place
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
    const auto slices = [](Duty duty) {
        std::vector<std::string> names;
        for (const SharedNetwork& n : shared("yolov8n", "A100", std::move(duty)).cycle.networks)
            names.push_back(n.slice);
        return names;
    };
    CHECK(slices({.every_s = 1.0 / 30, .with = {{"resnet50", 0.01}}}) ==
          std::vector<std::string>{"1g.10gb", "1g.10gb"});
    // What one slice of seven leaves.
    CHECK(slices({.with = {{"resnet50", 0.01}}}).front() == "4g.40gb");
    CHECK(slices({.every_s = 1e-6, .with = {{"resnet50", 0.01}}}) == std::vector<std::string>{"", ""});
}

TEST_CASE("rates, periods and batteries are read with their units", "[ask][duty]") {
    const auto duty = [](const char* key, const char* text) {
        QuestionTexts texts(Spelling::key);
        texts.give(key, text);
        if (std::string_view(key) == "battery" || std::string_view(key) == "idle_power")
            texts.give("every", "1s");
        return texts.question().conditions.duty;
    };
    for (const char* text : {"30", "30fps", "30 fps", "30/s", "30Hz"})
        CHECK(1 / duty("fps", text).every_s == Approx(30));
    CHECK(duty("every", "1d").every_s == 86400);
    CHECK(duty("every", "1 hour").every_s == 3600);
    for (const char* text : {"2.5Ah", "2500 mAh", "9.25Wh", "33.3kJ", "2.5Ah@3.7V"})
        CHECK(duty("battery", text).battery_wh == Approx(9.25));
    CHECK(duty("battery", "225mAh@3V").battery_wh == Approx(0.675));
    CHECK(duty("idle_power", "10uW").idle_w == Approx(1e-5));
    CHECK(duty("companions", "midas@5fps").with.front().every_s == Approx(0.2));
    CHECK(duty("companions", "whisper-tiny@30s").with.front().every_s == Approx(30));
    CHECK(duty("companions", "a@b@200ms").with.front().model == "a@b");
    for (const auto& [key, text] :
         std::vector<std::pair<const char*, const char*>>{{"fps", "0"},
                                                          {"fps", "-3"},
                                                          {"fps", "30ms"},
                                                          {"every", "0s"},
                                                          {"every", "5"},
                                                          {"battery", "5"},
                                                          {"battery", "0Wh"},
                                                          {"battery", "5Wh@"},
                                                          {"battery", "5Ah@0V"},
                                                          {"idle_power", "5"},
                                                          {"idle_power", "0W"},
                                                          {"companions", "midas"},
                                                          {"companions", "midas@"},
                                                          {"companions", "@5fps"},
                                                          {"companions", "midas@5"},
                                                          {"companions", "midas@0fps"},
                                                          {"companions", "midas@-1s"},
                                                          {"companions", "midas@infs"}})
        CHECK_THROWS_AS(duty(key, text), UsageError);
    QuestionTexts alone(Spelling::key);
    alone.give("battery", "10Wh");
    CHECK_THROWS_AS(alone.question(), UsageError); // how often?
}
