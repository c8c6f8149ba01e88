// What the tools write and read beside their answers: private files, unfinished ones, caches, large sweeps.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <sys/stat.h>

using namespace archsim::test;
namespace fs = std::filesystem;

TEST_CASE("a private output stays private, of a sweep with all that goes with it", "[cli][files]") {
    const Workplace workplace;
    const std::string sweep = "umask 022 && install -m 600 /dev/null s.csv && sweep_design_space resnet18 "
                              "--hardware A100 TPU-v4 --vary "
                              "clock=0.5x..2x:5000 --quiet --output s.csv";
    const Said said = workplace.run("bash -c '" + sweep +
                                    " & until [ -s s.csv.partial ]; do sleep 0.01; done; "
                                    "stat -c %a s.csv.partial s.csv.partial.log; wait $!; stat -c %a s.csv "
                                    "s.csv.json; ls -A | grep -c ^.archsim'");
    CHECK(said.output == "600\n600\n600\n600\n0\n");
    CHECK(workplace
              .run("umask 022; install -m 600 /dev/null a.json && compare_models resnet18 --hardware A100 "
                   "--output a.json "
                   "&& stat -c %a a.json")
              .output == "600\n");
}

TEST_CASE("a signal leaves nothing behind", "[cli][files]") {
    const Workplace workplace;
    for (const std::string signal : {"TERM", "HUP", "INT"}) {
        INFO(signal);
        const Said said = workplace.run("mkdir t && mkfifo model && bash -c 'set -m; TMPDIR=$PWD/t "
                                        "compare_models - --hardware H100 <model & exec 3>model; "
                                        "until ls t | grep -q archsim; do sleep 0.01; done; ls t | grep -c "
                                        "archsim-$!; stat -c %a t/*; kill -" +
                                        signal + " $!; wait $!; echo $?; ls -A t; exec 3>&-; rm -r t model'");
        const int number = signal == "TERM" ? 15 : signal == "HUP" ? 1 : 2;
        CHECK(said.output == "0\n700\n" + std::to_string(128 + number) + "\n");
    }
}

TEST_CASE("a large sweep says its size and time and waits for --yes", "[cli][files]") {
    const Workplace workplace;
    const std::string sweep = "sweep_design_space resnet18 --hardware A100 --vary peak=0.5x..2x:10000 --vary "
                              "bandwidth=0.5x..2x:10000 ";
    const Said rows = workplace.run(sweep + "--output s.csv 2>&1");
    CHECK(rows.status == 1);
    CHECK_THAT(rows.output, Catch::Contains("100000000 points: about ") && Catch::Contains(" GB") &&
                                Catch::Contains("add --yes"));
    CHECK_FALSE(fs::exists(workplace.folder() / "s.csv.partial"));
    CHECK(workplace.run(sweep + "2>&1").status == 1);
    CHECK(workplace.run("timeout -s KILL 1 " + sweep + "--yes --quiet --output s.csv 2>&1").status == 137);
    CHECK(fs::exists(workplace.folder() / "s.csv.partial"));
    CHECK(workplace.run(sweep + "--shard 3/100 --quiet --output part.csv").status == 0);
}

TEST_CASE("counts beyond their range are refused with the range", "[cli][files]") {
    const Workplace workplace;
    for (const std::string shard :
         {"0/99999999999999999999", "99999999999999999999/1", "0/0", "1/1", "-1/2", "0/", "/", "0/2000000"}) {
        const Said said =
            workplace.run("sweep_design_space resnet18 --hardware A100 --shard " + shard + " 2>&1");
        INFO(said.output);
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("from 1 to 1000000"));
    }
    for (const std::string tool :
         {"compare_models resnet18 --hardware A100 ", "sweep_design_space resnet18 --hardware A100 "}) {
        const Said said = workplace.run(tool + "--devices 99999999999 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("between 1 and 1000000"));
    }
}

TEST_CASE("a cache of Hugging Face is a folder like any other", "[cli][files]") {
    const Workplace workplace;
    const fs::path repository = workplace.folder() / "hub/models--some--net",
                   snapshot = repository / "snapshots/0a1b";
    fs::create_directories(repository / "blobs");
    fs::create_directories(repository / "refs");
    fs::create_directories(snapshot / "onnx");
    std::ofstream(repository / "refs/main") << "0a1b";
    fs::copy_file(workplace.folder() / "config.json", repository / "blobs/c0ffee");
    fs::create_symlink("../../blobs/c0ffee", snapshot / "config.json");
    fs::copy_file(workplace.folder() / "my_model.onnx", repository / "blobs/0dd");
    fs::create_symlink("../../../blobs/0dd", snapshot / "onnx/model.onnx");
    const std::string asked = " --hardware H100 --prompt-tokens 16 --generate-tokens 4 --format csv";
    const auto plain = workplace.run("mkdir net && cp config.json net && compare_models ./net" + asked);
    REQUIRE(plain.status == 0);
    for (const std::string place :
         {"hub/models--some--net", "hub/models--some--net/", "hub/models--some--net/snapshots/0a1b",
          "hub/models--some--net/snapshots/0a1b/config.json"}) {
        INFO(place);
        CHECK(workplace.run("compare_models " + place + asked).output == plain.output);
    }
    CHECK(workplace
              .run("compare_models hub/models--some--net/snapshots/0a1b/onnx --hardware H100 "
                   "--dim height=224 --dim width=224")
              .status == 0);
}
