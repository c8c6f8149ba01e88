// The program itself: exit codes, files, and commands that work when pasted.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

struct Outcome {
    int status = -1;
    std::string output;
};

Outcome run(const std::string& command) {
    Outcome outcome;
    const std::string line = "export ARCHSIM_DATA_DIR='" ARCHSIM_SOURCE_DIR "' PATH='" ARCHSIM_TOOL_DIR
                             "':$PATH; " +
                             command + " 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> buffer{};
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
        outcome.output.append(buffer.data(), n);
    outcome.status = WEXITSTATUS(pclose(pipe));
    return outcome;
}

} // namespace

namespace {

/// Runs every command that a report shows; returns how many there were.
int run_shown_commands(const std::string& report) {
    std::istringstream lines(report);
    std::string line;
    int commands = 0;
    while (std::getline(lines, line))
        if (line.starts_with("    compare_architectures ")) {
            CAPTURE(line);
            const Outcome next = run(line);
            CHECK(next.status == 0);
            CHECK(next.output.find("Batch Size: 2, Precision: fp16") != std::string::npos);
            ++commands;
        }
    return commands;
}

} // namespace

TEST_CASE("the next steps of summary and explanation work when pasted", "[architectures][tool]") {
    const Outcome summary = run("compare_architectures resnet18 --precision fp16 --batch-size 2 "
                                "--architectures GPU CPU=Xeon-8490H KPU-T64@6W --width 200");
    REQUIRE(summary.status == 0);
    CHECK(run_shown_commands(summary.output) == 3);
    const Outcome power = run("compare_architectures resnet18 --precision fp16 --batch-size 2 "
                              "--explain-difference GPU CPU --metric power --width 200");
    REQUIRE(power.status == 0);
    CHECK(run_shown_commands(power.output) == 2);
}

TEST_CASE("bad usage ends with 1, bad input with 2, both in one line", "[architectures][tool]") {
    const std::vector<std::pair<const char*, int>> cases = {
        {"compare_architectures", 1},
        {"compare_architectures resnet18 --model resnet18", 1},
        {"compare_architectures resnet18 --level deep", 1},
        {"compare_architectures resnet18 --metric beauty", 1},
        {"compare_architectures resnet18 --explain-difference GPU", 1},
        {"compare_architectures resnet18 --explain-difference GPU XPU", 1},
        {"compare_architectures resnet18 --max-latency 50", 1},
        {"compare_architectures resnet18 --batch-sweep 1,2,...", 1},
        {"compare_architectures resnet18 --batch-sweep 4,2", 1},
        {"compare_architectures resnet18 --what-if speed=2x", 1},
        {"compare_architectures resnet18 --format pdf", 1},
        {"compare_architectures resnet99", 2},
        {"compare_architectures resnet18 --architectures GPU=Q100", 2},
        {"compare_architectures resnet18 --runtime none-such --explain-difference GPU TPU", 2},
        {"compare_architectures resnet18 --output /nonexistent/folder/x.json", 2},
    };
    for (const auto& [command, status] : cases) {
        CAPTURE(command);
        const Outcome outcome = run(command);
        CAPTURE(outcome.output);
        CHECK(outcome.status == status);
        CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
        CHECK(outcome.output.starts_with("compare_architectures: "));
    }
}

TEST_CASE("the extension of the output file chooses its format", "[architectures][tool]") {
    const auto folder = std::filesystem::temp_directory_path() / "archsim_compare_architectures";
    std::filesystem::create_directories(folder);
    for (const auto& [name, start] :
         {std::pair("a.json", "{\n  \"schema\": \"archsim.compare_architectures/1\""),
          std::pair("a.txt", "===="), std::pair("a.md", "# "), std::pair("a.html", "<!doctype html>")}) {
        const auto file = folder / name;
        CAPTURE(file);
        CHECK(run("compare_architectures resnet18 --quiet --output " + file.string()).output.empty());
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        CHECK(text.str().starts_with(start));
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("compare_models judges the same limits", "[architectures][tool]") {
    const Outcome met = run("compare_models resnet18 --hardware H100 Xeon-8490H --precision fp16 "
                            "--max-latency 1s --pareto energy latency");
    CHECK(met.status == 0);
    CHECK(met.output.find("Recommended: ") != std::string::npos);
    CHECK(met.output.find("on it") != std::string::npos);
    const Outcome none = run("compare_models resnet18 --hardware H100 --max-power 1mW");
    CHECK(none.status == 4);
    CHECK(none.output.find("None qualifies; nearest is H100") != std::string::npos);
    CHECK(run("compare_models resnet18 --hardware H100 --max-power 1ms").status == 1);
}
