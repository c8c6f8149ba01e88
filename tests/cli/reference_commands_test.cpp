// Command lines, studies, sections and columns that users bring along from a Python tool of the same purpose.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

using namespace archsim::test;

namespace {

void require_words(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        INFO(word);
        CHECK(text.find(word) != std::string::npos);
    }
}

} // namespace

TEST_CASE("known command lines run as they stand", "[cli][reference]") {
    const Workplace workplace;
    std::istringstream lines(
        read(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "tests/cli/reference_commands.txt"));
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
        if (line.empty() || line.starts_with('#'))
            continue;
        INFO(line);
        const Said said = workplace.run(line + " 2>&1");
        INFO(said.output.substr(0, 400));
        CHECK(said.status == 0);
        CHECK((!said.output.empty() || line.find("--output") != std::string::npos));
        ++count;
    }
    CHECK(count == 33);
    CHECK_THAT(read(workplace.folder() / "comparison.json"), Catch::StartsWith("{"));
    CHECK_FALSE(read(workplace.folder() / "comparison.txt").empty());
}

TEST_CASE("the studies run unchanged, in YAML and in JSON, with the same answer", "[cli][reference][study]") {
    const Workplace workplace;
    for (const std::string name : {"quick_test", "full_comparison"}) {
        INFO(name);
        const Said yaml =
                       workplace.run("compare_models --study docs/examples/" + name + ".yaml --format csv"),
                   json =
                       workplace.run("compare_models --study docs/examples/" + name + ".json --format csv");
        CHECK(yaml.status == 0);
        CHECK(yaml.output == json.output);
        CHECK(std::count(yaml.output.begin(), yaml.output.end(), '\n') > 20);
    }
}

TEST_CASE("sections and columns keep their words", "[cli][reference]") {
    const Workplace workplace;
    const auto said = [&](const std::string& command) {
        return workplace.run(command + " --width 400 2>&1").output;
    };
    require_words(said("compare_architectures --model resnet18"),
                  {"Architecture Comparison: ResNet-18", "Recommendations:", "Best for Energy:",
                   "Best for Latency:", "Best for Throughput:", "Best Balance:", "Architecture", "Energy",
                   "Latency", "Memory", "Util", "Key Insights:"});
    require_words(said("compare_architectures --model resnet18 --level detailed --architecture GPU"),
                  {"Detailed Analysis: GPU", "Energy Breakdown:", "Total Energy", "Compute", "Memory",
                   "Performance:", "Latency", "Throughput", "Utilization", "Peak Memory", "Activation Memory",
                   "Weight Memory", "Bottleneck Analysis:", "Compute-bound", "Memory-bound",
                   "Total subgraphs"});
    require_words(said("compare_architectures --model resnet18 --level subgraph"),
                  {"Subgraph-Level Comparison: ResNet-18", "Count", "Operation", "Winner", "Summary:"});
    require_words(said("compare_models resnet50 --hardware H100"), {"MODEL ANALYSIS: ResNet-50",
                                                                    "Model Characteristics:",
                                                                    "Total Subgraphs",
                                                                    "Hardware Comparison (Sorted by Latency)",
                                                                    "Hardware",
                                                                    "Type",
                                                                    "Latency",
                                                                    "FPS",
                                                                    "Power",
                                                                    "FPS/W",
                                                                    "Energy",
                                                                    "(mJ/inf)",
                                                                    "Rank",
                                                                    "Architecture",
                                                                    "SMs",
                                                                    "TDP",
                                                                    "Performance:",
                                                                    "Efficiency",
                                                                    "Energy/inf",
                                                                    "Utilization:",
                                                                    "Average",
                                                                    "Min",
                                                                    "Max",
                                                                    "Bottleneck Distribution:",
                                                                    "Compute-bound",
                                                                    "Memory-bound"});
}
