// Advice is what the same question answers: what it names, asked for, gains what it says.

#include "laws/laws.hpp"
#include "report/blocks/ranking_table.hpp"
#include "result/generation_metrics.hpp"
#include "session/other_conditions.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace archsim;
using Catch::Contains;

namespace {

struct Asked {
    std::string model;
    std::string format; ///< empty: none
    std::int64_t batch = 1;
    Scenario scenario = Scenario::latency;
};

/// What stands after a flag; empty: it is another.
std::string after(const TriedChange& change, const std::string& flag) {
    return change.asked.starts_with(flag) ? change.asked.substr(flag.size()) : "";
}

} // namespace

TEST_CASE("no advice names a format that the stack is not used with", "[advice]") {
    const Workload workload{.model = laws::session().load("vgg16"), .batch = 8};
    Conditions conditions;
    conditions.stack = "cuda-eager";
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    const std::vector<Result> now = {laws::session().estimate(workload, "RTX-3060", conditions)};
    REQUIRE(now[0].ok());
    for (const TriedChange& change : tried_changes(laws::session(), workload, now, {}))
        CHECK(change.asked != "--precision int8"); // of eager PyTorch: few convolutions have such kernels
}

TEST_CASE("what advice names gains what it says when it is asked for", "[laws][advice]") {
    const std::vector<Asked> questions = {
        {"resnet50", "fp32"}, {"mobilenet_v2", ""},       {"bert-base", "bf16", 1, Scenario::throughput},
        {"llama-3.2-1b", ""}, {"llama-3.2-1b", "fp8", 4},
    };
    int checked = 0, batches = 0;
    for (const Asked& asked : questions) {
        const Workload workload{.model = laws::session().load(asked.model), .batch = asked.batch};
        for (std::size_t i = 0; i < laws::hardware().size(); i += 7) {
            const std::string& device = laws::hardware()[i];
            Conditions conditions;
            conditions.scenario = asked.scenario;
            if (!asked.format.empty())
                conditions.precision = *PrecisionConfig::parse(asked.format);
            const std::vector<Result> now = {laws::session().estimate(workload, device, conditions)};
            if (!now[0].ok())
                continue;
            const Metric& by = now[0].generation ? metric::token_rate : ranked_by(conditions);
            for (const TriedChange& change : tried_changes(laws::session(), workload, now, {})) {
                INFO(asked.model << " on " << device << " in " << asked.format << ": " << change.asked);
                Conditions then = now[0].conditions;
                Workload other = workload;
                std::string hardware = device;
                if (const std::string format = after(change, "--precision "); !format.empty())
                    then.precision = *PrecisionConfig::parse(format);
                else if (const std::string stack = after(change, "--runtime "); !stack.empty())
                    then.stack = stack;
                else if (const std::string mode = after(change, "--hardware "); !mode.empty())
                    hardware = mode;
                else if (const std::string batch = after(change, "--batch-size "); !batch.empty())
                    other.batch = std::stoll(batch);
                else
                    FAIL("not a change of this question");
                batches += other.batch != workload.batch;
                CHECK((other.batch == workload.batch || asked.batch > 1 ||
                       asked.scenario == Scenario::throughput)); // a camera has one item at a time
                const Result better = laws::session().estimate(other, hardware, then);
                REQUIRE(better.ok());
                const double before = *value_of(now[0], by), value = *value_of(better, by);
                CHECK(change.gain == Approx(by.better == Better::higher ? value / before : before / value));
                CHECK(change.gain >= 1.05);
                if (then.stack != now[0].conditions.stack) // two stacks err apart
                    CHECK_FALSE(measure_of(better, by)->interval.overlaps(measure_of(now[0], by)->interval));
                const std::string text = advice_for(std::span(&change, 1), {}).front().text;
                CHECK_THAT(text, Contains(change.asked));
                if (now[0].generation) // what a rate gains may cost the first token
                    CHECK(change.first_token == Approx(better.generation->time_to_first_token_s /
                                                       now[0].generation->time_to_first_token_s));
                CHECK((text.find("first token") != text.npos) == (change.first_token >= 1.05));
                ++checked;
            }
        }
    }
    CHECK(checked > 60);
    CHECK(batches > 5);
}
