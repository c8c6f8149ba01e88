// What a script can tell from the status of a tool.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

using namespace archsim::test;

TEST_CASE("status 4: answered, and nothing runs or meets the limits", "[cli]") {
    const Workplace workplace;
    const auto status_of = [&](const std::string& command) {
        INFO(command);
        return workplace.run(command + " >/dev/null 2>&1").status;
    };
    CHECK(status_of("compare_models resnet18 --hardware H100") == 0);
    CHECK(status_of("compare_models resnet18 --hardware H100 --max-latency 1us") == 4);
    CHECK(status_of("compare_models resnet18 --hardware H100 --max-latency 1s") == 0);
    CHECK(status_of("compare_models llama-3-70b --prompt-tokens 16 --precision fp16 --hardware T4") == 4);
    // One that runs is an answer.
    CHECK(status_of("compare_models llama-3-8b --prompt-tokens 16 --precision fp16 --hardware T4 H100") == 0);
    CHECK(status_of("compare_architectures --model resnet18 --max-latency 1us") == 4);
    CHECK(status_of("analyze_comprehensive resnet18 --hardware H100 --max-latency 1us") == 4);
}
