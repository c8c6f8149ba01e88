// What happens to a tool: endless input, full disks, devices as output, closed pipes, Ctrl-C.

#include "cli/workplace.hpp"

#include <algorithm>

using namespace archsim::test;

namespace fs = std::filesystem;

TEST_CASE("input that never ends is refused", "[cli][robustness]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models --study /dev/zero", "validate_estimates --measurements /dev/zero",
          "calibrate_device A100 --measurements /dev/zero", "profile_graph /dev/zero",
          "sweep_design_space --merge /dev/zero --output merged.csv"}) {
        INFO(command);
        const Said said = workplace.run(std::string("timeout 60 ") + command + " 2>&1");
        CHECK(said.status == 2);
        CHECK(std::count(said.output.begin(), said.output.end(), '\n') == 1);
        CHECK_THAT(said.output, Catch::Contains("/dev/zero: "));
    }
}

TEST_CASE("a damaged part of the database ends every tool that needs it with a sentence",
          "[cli][robustness]") {
    const Workplace workplace;
    const fs::path data = workplace.folder() / "data";
    fs::create_directories(data / "hardware_db");
    fs::create_symlink(fs::path(ARCHSIM_SOURCE_DIR) / "models", data / "models");
    for (const auto& entry : fs::directory_iterator(fs::path(ARCHSIM_SOURCE_DIR) / "hardware_db"))
        fs::copy(entry.path(), data / "hardware_db" / entry.path().filename(), fs::copy_options::recursive);
    const auto end_of = [&](const std::string& command) {
        INFO(command);
        const Said said = workplace.run("export ARCHSIM_DATA_DIR=data; " + command + " 2>&1 >/dev/null");
        CHECK(said.status == 2);
        CHECK(std::count(said.output.begin(), said.output.end(), '\n') <= 3);
        return said.output;
    };
    for (const char* part : {"energy.json", "uncertainty.json"}) {
        const fs::path file = data / "hardware_db" / part;
        const std::string kept = read(file);
        std::ofstream(file) << "{";
        for (const char* command :
             {"compare_models resnet18 --hardware H100 A100", "compare_architectures resnet18",
              "sweep_design_space resnet18 --hardware H100 A100 --vary clock=0.5x..2x:9",
              "serve_model llama-3-8b --hardware H100 --rate 1 --requests 20"})
            CHECK_THAT(end_of(command), Catch::Contains(part));
        CHECK(workplace.run("ARCHSIM_DATA_DIR=data profile_graph resnet18").status == 0);
        std::ofstream(file) << kept;
    }
    fs::create_directory(data / "hardware_db/gpu/A folder.json"); // no device
    CHECK_THAT(end_of("compare_models resnet18 --hardware 'no id but a name'"),
               Catch::Contains("no device is called"));
}

TEST_CASE("an empty argument is a mistake, not a riddle", "[cli][robustness]") {
    const Workplace workplace;
    for (const char* command :
         {"calibrate_device A099 --mlasurements '' --ojson", "compare_models resnet18 ''"}) {
        INFO(command);
        const Said said = workplace.run(std::string("timeout 60 ") + command + " 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("is empty"));
    }
}

TEST_CASE("a full disk ends every way of writing with a sentence", "[cli][robustness]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models resnet18 --hardware A100 --format json > /dev/full",
          "compare_models resnet18 --hardware A100 --format json --output /dev/full",
          "compare_models resnet18 --hardware A100 --subgraphs /dev/full",
          "sweep_design_space resnet18 --hardware A100 --vary clock=0.5x..2x:9 --quiet > /dev/full"}) {
        INFO(command);
        const Said said = workplace.run("( " + std::string(command) + " ) 2>&1");
        CHECK(said.status == 2);
        CHECK_THAT(said.output,
                   Catch::Contains("could not be written") || Catch::Contains("cannot be written"));
    }
    CHECK(fs::is_character_file("/dev/full"));
    const Said refused = workplace.run("sweep_design_space resnet18 --hardware A100 --vary clock=0.5x..2x:9 "
                                       "--output /dev/full --format csv 2>&1");
    CHECK(refused.status == 1);
    CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("devices, pipes and links can be written to", "[cli][robustness]") {
    const Workplace workplace;
    const std::string tool = "compare_models resnet18 --hardware A100 --format json --output ";
    CHECK_THAT(workplace.run(tool + "/dev/stdout | cat").output, Catch::StartsWith("{"));
    CHECK(workplace.run("mkfifo pipe && (cat pipe > from_pipe.json &) && " + tool + "pipe && sleep 0.2")
              .status == 0);
    CHECK_THAT(read(workplace.folder() / "from_pipe.json"), Catch::StartsWith("{"));
    CHECK(workplace
              .run("mkdir kept && touch kept/answer.json && ln -s kept/answer.json link.json && " + tool +
                   "link.json")
              .status == 0);
    CHECK(fs::is_symlink(workplace.folder() / "link.json"));
    CHECK_THAT(read(workplace.folder() / "kept/answer.json"), Catch::StartsWith("{"));
}

TEST_CASE("a closed pipe ends a tool quietly", "[cli][robustness]") {
    const Workplace workplace;
    const Said said = workplace.run("(timeout 60 sweep_design_space resnet18 --hardware A100 --vary "
                                    "clock=0.5x..2x:1000000 --format csv --quiet | head -n 1) 2>&1");
    CHECK_THAT(said.output, Catch::StartsWith("point,model,"));
    CHECK(std::count(said.output.begin(), said.output.end(), '\n') == 1);
}

TEST_CASE("a sweep stopped by Ctrl-C continues where it was", "[cli][robustness]") {
    const Workplace workplace;
    const std::string sweep =
        "sweep_design_space resnet18 --hardware A100 TPU-v4 --vary clock=0.5x..2x:5000 --quiet";
    // Interrupts as soon as rows are in the file; a shell in the background would ignore SIGINT for its
    // child.
    const Said stopped = workplace.run("bash -c 'set -m; " + sweep +
                                       " --output stopped.csv & while ! [ -s stopped.csv.partial ]; do sleep "
                                       "0.01; done; sleep 0.05; kill -INT $!; wait $!'");
    CHECK(stopped.status == 130);
    CHECK_FALSE(fs::exists(workplace.folder() / "stopped.csv"));
    const auto there = fs::file_size(workplace.folder() / "stopped.csv.partial");
    CHECK(there > 0);
    CHECK(workplace.run(sweep + " --output stopped.csv --resume").status == 0);
    CHECK(workplace.run(sweep + " --output whole.csv").status == 0);
    CHECK(read(workplace.folder() / "stopped.csv") == read(workplace.folder() / "whole.csv"));
    CHECK(there < fs::file_size(workplace.folder() / "whole.csv"));
}
