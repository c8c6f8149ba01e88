// What starts a sized layout: every flag is a documented option of its engine, layouts are those of the
// answer.

#include "archsim/core/finding.hpp"
#include "archsim/run/launch.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

constexpr std::array kEngines = {LaunchTarget::vllm, LaunchTarget::sglang, LaunchTarget::trtllm};

SizingAnswer answer_with(const Parallelism& way, const std::string& format) {
    SizingAnswer answer;
    answer.model = "qwen3-30b-a3b";
    answer.request.serving.load.prompt_tokens = 2000;
    answer.request.serving.load.output_tokens = 300;
    SizedDevice& d = answer.devices.emplace_back();
    d.hardware = "H100";
    d.precision = format;
    d.runtime = "vLLM";
    d.layout.emplace();
    d.layout->run.parallelism = way;
    d.layout->probability = 0.95;
    return answer;
}

std::string launched(const Parallelism& way, LaunchTarget target, const std::string& format = "bf16") {
    const SizingAnswer answer = answer_with(way, format);
    return launch_text(shipped_session(), answer, answer.devices.front(), target, "Qwen/Qwen3-30B-A3B");
}

/// Words of the command that start with two dashes.
std::vector<std::string> flags_of(const std::string& text) {
    std::vector<std::string> flags;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.starts_with("#") ? "" : line);
        for (std::string word; words >> word;)
            if (word.starts_with("--"))
                flags.push_back(word);
    }
    return flags;
}

} // namespace

TEST_CASE("every flag of every launch is in the table of documented options", "[sizing][launch]") {
    std::set<std::pair<LaunchTarget, std::string>> documented, used;
    for (const LaunchOption& option : launch_options()) {
        CHECK(option.url.starts_with("https://"));
        CHECK_FALSE(option.meaning.empty());
        CHECK(documented.emplace(option.engine, option.flag).second); // once
    }
    for (const LaunchTarget engine : kEngines)
        for (const Parallelism& way :
             {Parallelism{}, Parallelism{.tensor = 4, .data = 3}, Parallelism{.tensor = 8, .pipeline = 2},
              Parallelism{.experts = 8}, Parallelism{.tensor = 2, .data = 2, .experts = 8}})
            for (const char* format : {"bf16", "fp16", "fp8", "int8", "int4", "fp4"})
                for (const std::string& flag : flags_of(launched(way, engine, format))) {
                    INFO(flag);
                    CHECK(documented.count({engine, flag}) == 1);
                    used.emplace(engine, flag);
                }
    CHECK(used.size() >= 24);
}

TEST_CASE("a launch has the layout, the batch limits and the length of the answer", "[sizing][launch]") {
    const std::string vllm = launched({.tensor = 2, .data = 6}, LaunchTarget::vllm);
    CHECK_THAT(vllm, Catch::Contains("vllm serve Qwen/Qwen3-30B-A3B"));
    CHECK_THAT(vllm, Catch::Contains("--tensor-parallel-size 2"));
    CHECK_THAT(vllm, Catch::Contains("--max-model-len 2300"));
    CHECK_THAT(vllm, Catch::Contains("6 engines like this one, each on 2 devices"));
    CHECK_THAT(launched({.experts = 8}, LaunchTarget::sglang), Catch::Contains("--tp-size 8") &&
                                                                   Catch::Contains("--dp-size 8") &&
                                                                   Catch::Contains("--enable-dp-attention"));
    CHECK_THAT(launched({}, LaunchTarget::trtllm, "fp8"), Catch::Contains("must be a checkpoint in fp8"));
    CHECK_THAT(launched({}, LaunchTarget::vllm, "fp8"), Catch::Contains("--quantization fp8"));
}

TEST_CASE("a launch has the limits of the engine that was simulated", "[sizing][launch]") {
    SizingRequest request;
    request.serving.load.rate_per_s = 2;
    request.level = {1, 0, 0};
    const std::vector<std::string> hardware = {"H100"};
    std::vector<Conditions> formats(1);
    formats.front().stack = "vllm";
    const Session& session = shipped_session();
    const auto sized = [&] {
        return size_service(session, session.load("tinyllama-1.1b"), hardware, formats, request);
    };
    for (const std::int64_t asked : {0, 48}) { // the stack's own limits, and others
        request.serving.plan.engine.sequences = asked;
        const SizingAnswer answer = sized();
        const SizedDevice& device = answer.devices.front();
        REQUIRE(device.layout);
        const EngineLimits& engine = device.layout->engine;
        CHECK(engine.sequences > 0);
        CHECK((asked == 0 || engine.sequences == asked));
        const std::string text = launch_text(session, answer, device, LaunchTarget::vllm, "x");
        CHECK_THAT(text, Catch::Contains("--max-num-seqs " + std::to_string(engine.sequences)));
        CHECK_THAT(text, Catch::Contains("--max-num-batched-tokens " + std::to_string(engine.step_tokens)));
    }
}

TEST_CASE("a manifest has an engine per replica and asks for its devices", "[sizing][launch]") {
    const std::string yaml = launched({.tensor = 2, .data = 6}, LaunchTarget::kubernetes);
    CHECK_THAT(yaml, Catch::Contains("replicas: 6"));
    CHECK_THAT(yaml, Catch::Contains("nvidia.com/gpu: 2"));
    CHECK_THAT(yaml, Catch::Contains("name: qwen3-30b-a3b"));
    CHECK_THROWS_AS(launched({.tensor = 8, .pipeline = 2}, LaunchTarget::kubernetes), UsageError);
}

TEST_CASE("checkpoints are those that the catalogue names", "[sizing][launch]") {
    CHECK(checkpoint_of(shipped_session(), "qwen3-30b-a3b") == "Qwen/Qwen3-30B-A3B");
    CHECK(checkpoint_of(shipped_session(), "./my_model") == "./my_model");
    SizingAnswer answer = answer_with({}, "bf16");
    answer.devices.front().layout.reset();
    CHECK_THROWS_AS(launch_text(shipped_session(), answer, answer.devices.front(), LaunchTarget::vllm, "x"),
                    UsageError);
}
