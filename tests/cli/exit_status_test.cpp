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
    CHECK(status_of("analyze_batch resnet18 --hardware H100 --max-latency 1us") == 4);
    CHECK(status_of("analyze_batch resnet18 --hardware H100 --max-latency 1s") == 0);
    // Every tool that takes a model and a device, of what fits none.
    const std::string large = " llama-3-70b --hardware T4";
    for (const char* tool :
         {"compare_models", "compare_architectures", "explain_difference", "analyze_comprehensive",
          "analyze_graph_mapping", "analyze_batch", "sweep_design_space", "check_model"}) {
        std::string question = tool + large;
        if (tool == std::string("compare_architectures"))
            question = "compare_architectures llama-3-70b --architectures T4 L4";
        if (tool == std::string("explain_difference")) // takes two of something
            question += " L4";
        CHECK(status_of(question) == 4);
        if (tool != std::string("check_model"))
            CHECK(status_of(question + " --prompt-tokens 16") == 4);
    }
    CHECK(status_of("check_budget llama-3-70b --hardware T4 --fail-on 'latency>1s'") == 4);
    CHECK(status_of("serve_model llama-3-8b --hardware H100 --requests 20 --ttft-p99 1us") == 4);
    CHECK(status_of("explain_difference resnet18 --hardware H100 A100") == 0);
    CHECK(status_of("validate_estimates --measurements my_board.csv --hardware Nope") == 2);
}
