// Flags of every tool: what stands for their values, and that what is given is used or refused.

#include "cli/workplace.hpp"
#include "common/manual.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <sstream>

using namespace archsim::test;

namespace {

std::vector<std::string> names_of_tools() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(ARCHSIM_SOURCE_DIR "/cli"))
        if (entry.path().extension() == ".cpp")
            names.push_back(entry.path().stem().string());
    return names;
}

} // namespace

TEST_CASE("help says what a value is, and manuals every exit status", "[cli]") {
    const Workplace workplace;
    const std::regex option(
        R"(^  (?:-\w, )?--([a-z0-9-]+)(?:, --[a-z0-9-]+)* ([A-Z0-9_]+)(?:\.\.\.)?(?:  |$))");
    for (const std::string& tool : names_of_tools()) {
        INFO(tool);
        const Said help = workplace.run(tool + " --help-all");
        std::istringstream lines(help.output);
        for (std::string line; std::getline(lines, line);)
            if (std::smatch found; std::regex_search(line, found, option)) {
                INFO(line);
                CHECK(found[2] != "VALUE"); // nothing is known of it: see kPlaceholders
                for (const char digit : std::string("0123456789")) // no P99 of --ttft-p99
                    CHECK(found[2].str().find(digit) == std::string::npos);
            }
        const Said page = workplace.run(tool + " --help-format man");
        for (const archsim::cli::ExitMeaning& one : archsim::cli::exit_meanings())
            CHECK_THAT(page.output, Catch::Contains(".TP\n" + std::to_string(one.status) + "\n"));
    }
    CHECK_THAT(workplace.run("sweep_design_space --help-all").output, Catch::Contains("|csv|html|ndjson"));
}

TEST_CASE("a flag that would be left aside is refused", "[cli]") {
    const Workplace workplace;
    for (const char* command :
         {"serve_model qwen3-0.6b --hardware H100 --concurrency 32 --ttft-p99 1s",
          "serve_model qwen3-0.6b --hardware H100 --concurrency 32 --rate 4",
          "serve_model qwen3-0.6b --hardware H100 --rate 50 --tpot-p99 40ms",
          "serve_model qwen3-0.6b --hardware H100 --frontier --rate 50",
          "serve_model qwen3-0.6b --hardware H100 --rate 4 --accepted 0.7",
          "serve_model qwen3-0.6b --hardware H100 --rate 4 --wait-steps 4",
          "compare_models resnet18 --deployment edge --hardware H100",
          "compare_models resnet18 --hardware H100 --years 1",
          "compare_models resnet18 --hardware H100 --price H100=2.5/h",
          "compare_models --study docs/examples/quick_test.json --input-shape x=1,3,8,8",
          "compare_architectures resnet18 --pue 2",
          "compare_models resnet18 --hardware H100 --sampling top-p",
          "compare_models resnet18 --hardware H100 --devices auto"}) {
        INFO(command);
        CHECK(workplace.run(std::string(command) + " 2>&1").status == 1);
    }
    for (const char* command : {"compare_models resnet18 --hardware H100 --years 1 --cost",
                                "compare_models resnet18 --hardware H100 --batch-size 1k",
                                "compare_models resnet18 --hardware H100 --years 1 --format csv",
                                "compare_models resnet18 --hardware H100 --top 1k"}) {
        INFO(command);
        CHECK(workplace.run(std::string(command) + " 2>&1").status == 0);
    }
}
