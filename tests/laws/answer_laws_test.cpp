// Numbers of answers that must not contradict each other: totals lie in their intervals, a server that is
// kept busy gives at least what one batch after another gives, and runs what one stream runs.

#include "laws/laws.hpp"
#include "support/random_source.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>

using namespace archsim;

namespace {

constexpr double kOfAnswers = 1e-9;

void inside(const Interval& interval, double value, const char* what) {
    INFO(what << ": " << value << " in " << interval.low << " to " << interval.high);
    if (std::isnan(value))
        return;
    CHECK(interval.low <= value * (1 + kOfAnswers));
    CHECK(value <= interval.high * (1 + kOfAnswers));
}

} // namespace

TEST_CASE("random answers lie in their intervals, and a busy server gives no less than one stream",
          "[laws]") {
    const Session& session = laws::session();
    test::RandomSource random(73);
    static constexpr const char* kModels[] = {"opt-1.3b", "qwen3-0.6b", "llama-3.2-1b", "stablelm-2-1.6b",
                                              "gpt2"};
    static constexpr Precision kFormats[] = {Precision::fp16, Precision::bf16, Precision::fp8,
                                             Precision::int8};
    static constexpr std::int64_t kBatches[] = {1, 2, 4, 5, 8, 32, 256};
    static constexpr std::int64_t kTokens[] = {1, 2, 7, 128, 512};
    std::size_t answers = 0, busy = 0;
    for (int i = 0; i < 600; ++i) {
        Workload workload{.model = session.load(random.one_of(kModels))};
        workload.batch = random.one_of(kBatches);
        workload.prompt = Prompt{.tokens = random.one_of(kTokens), .generate = random.one_of(kTokens)};
        const std::string& device = laws::hardware()[random.below(laws::hardware().size())];
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(random.one_of(kFormats));
        const Result one = session.estimate(workload, device, conditions);
        if (!one.ok())
            continue;
        INFO(workload.model.name() << " on " << device << ", batch " << workload.batch << ", "
                                   << workload.prompt->tokens << " + " << workload.prompt->generate
                                   << " tokens, " << name_of(conditions.precision.compute));
        ++answers;
        conditions.scenario = Scenario::throughput;
        const Result many = session.estimate(workload, device, conditions);
        for (const Result* r : {&one, &many}) {
            if (!r->ok())
                continue;
            const Estimate& e = r->estimate;
            inside(e.latency_interval, e.latency_s, "latency");
            inside(e.throughput_interval, e.throughput_per_s, "throughput");
            inside(e.energy_interval, e.energy_per_inference_j, "energy");
            if (!std::isnan(e.energy.total()))
                CHECK(e.energy_per_inference_j == Approx(e.energy.total() / e.batch).epsilon(1e-6));
        }
        if (many.estimate.status == Status::incomplete || many.estimate.status == Status::unsupported)
            continue; // how much memory there is may be unknown
        REQUIRE(many.ok());
        ++busy;
        CHECK(many.estimate.throughput_per_s >= one.estimate.throughput_per_s * (1 - kOfAnswers));
    }
    CHECK(answers > 200);
    CHECK(busy > 100);
}

TEST_CASE("a network that is asked all the time gives no less than one batch after another", "[laws]") {
    const Session& session = laws::session();
    test::RandomSource random(7);
    static constexpr Precision kFormats[] = {Precision::fp32, Precision::fp16, Precision::int8};
    static constexpr std::int64_t kBatches[] = {1, 2, 8, 32};
    std::size_t compared = 0;
    for (int i = 0; i < 500; ++i) {
        const std::string& device = laws::hardware()[random.below(laws::hardware().size())];
        const std::string& model = laws::models()[random.below(laws::models().size())];
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(random.one_of(kFormats));
        const Workload workload{.model = session.load(model), .batch = random.one_of(kBatches)};
        const Result one = session.estimate(workload, device, conditions);
        conditions.scenario = Scenario::throughput;
        const Result many = session.estimate(workload, device, conditions);
        if (!one.ok() || !many.ok())
            continue;
        INFO(model << " on " << device << ", batch " << workload.batch << " at "
                   << name_of(conditions.precision.compute));
        ++compared;
        CHECK(many.estimate.throughput_per_s >= one.estimate.throughput_per_s * (1 - kOfAnswers));
        inside(many.estimate.throughput_interval, many.estimate.throughput_per_s, "throughput");
        inside(many.estimate.energy_interval, many.estimate.energy_per_inference_j, "energy");
    }
    CHECK(compared > 200);
}

TEST_CASE("units that a design adds may stay idle: more are never slower", "[laws]") {
    const Session& session = laws::session();
    test::RandomSource random(48);
    static constexpr Precision kFormats[] = {Precision::fp16, Precision::bf16, Precision::int8};
    static constexpr double kFactors[] = {2, 3, 4, 8};
    std::size_t compared = 0;
    const auto check = [&](const std::string& model, const std::string& device, Precision format,
                           double factor) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(format);
        const Workload workload{.model = session.load(model)};
        const Result stated = session.estimate(workload, device, conditions);
        conditions.structure[Structure::units] = factor;
        const Result more = session.estimate(workload, device, conditions);
        if (!stated.ok() || !more.ok())
            return;
        INFO(model << " on " << device << " at " << name_of(format) << ", units x " << factor);
        ++compared;
        CHECK(more.estimate.latency_s <= stated.estimate.latency_s * (1 + kOfAnswers));
    };
    check("gpt2", "Xeon-6980P", Precision::fp16, 4);
    check("mobilenet_v2", "Xeon-8592+", Precision::bf16, 4);
    check("yolov5m", "RTX-6000-Ada", Precision::int8, 4);
    for (int i = 0; i < 300; ++i)
        check(laws::models()[random.below(laws::models().size())],
              laws::hardware()[random.below(laws::hardware().size())], random.one_of(kFormats),
              random.one_of(kFactors));
    CHECK(compared > 100);
}

TEST_CASE("an engine that divides attention by whole heads starts on their divisors alone", "[laws]") {
    const Session& session = laws::session();
    const std::pair<const char*, std::int64_t> models[] = {
        {"llama-3-8b", 32}, {"qwen2.5-0.5b", 14}, {"gpt2", 12}, {"qwen3-30b-a3b", 32}};
    for (const auto& [name, heads] : models)
        for (const char* stack : {"vllm", "sglang", "trt-llm"})
            for (std::int64_t devices = 2; devices <= 9; ++devices) {
                const Workload workload{.model = session.load(name),
                                        .prompt = Prompt{.tokens = 64, .generate = 8}};
                Conditions conditions;
                conditions.stack = stack;
                conditions.devices = static_cast<double>(devices);
                const Result r = session.estimate(workload, "H100", conditions);
                INFO(name << " under " << stack << " on " << devices << ": " << r.estimate.reason);
                CHECK(r.ok() == (heads % devices == 0));
            }
}
