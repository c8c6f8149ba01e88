// Flags of every tool: what stands for their values, and that what is given is used or refused.

#include "cli/workplace.hpp"
#include "common/flags.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
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
                CHECK(found[2] != "VALUE");                        // nothing is known of it: see kWords
                for (const char digit : std::string("0123456789")) // no P99 of --ttft-p99
                    CHECK(found[2].str().find(digit) == std::string::npos);
            }
        const Said page = workplace.run(tool + " --help-format man");
        for (const archsim::cli::ExitMeaning& one : archsim::cli::exit_meanings())
            CHECK_THAT(page.output, Catch::Contains(".TP\n" + std::to_string(one.status) + "\n"));
    }
    CHECK_THAT(workplace.run("sweep_design_space --help-all").output, Catch::Contains("|csv|html|ndjson"));
}

TEST_CASE("shells complete files for every option that takes one, and ask for lists that there are",
          "[cli]") {
    const Workplace workplace;
    // fish: "complete -c TOOL -l NAME -r -a '(LIST 2>/dev/null)' -d 'DESCRIPTION'", -x where no files are
    // completed.
    const std::regex line(
        R"(^complete -c \w+(?: -s \w)? -l ([a-z0-9-]+)(?: -[ls] \S+)* (-[rx])(?: -a '(.*?)')? -d '(.*)'$)");
    const std::regex of_files(R"(\b(FILE|FOLDER|files?|folders?)\b(?! s\b))"),
        list(R"(\((.+) 2>/dev/null\))");
    std::set<std::string> lists;
    for (const std::string& tool : names_of_tools()) {
        std::istringstream lines(workplace.run(tool + " --help-format fish").output);
        std::size_t options = 0;
        for (std::string text; std::getline(lines, text);) {
            std::smatch found;
            if (!std::regex_match(text, found, line))
                continue;
            ++options;
            INFO(text);
            const std::string description = found[4];
            const std::string values = found[3];
            std::smatch command;
            const bool listed = std::regex_match(values, command, list);
            if (listed)
                lists.insert(command[1]);
            if ((values.empty() || listed) && std::regex_search(description, of_files))
                CHECK(found[2] == "-r");
        }
        CHECK(options > 3);
    }
    CHECK(lists.size() == 4);
    for (const std::string& command : lists) {
        INFO(command);
        const Said said = workplace.run(command);
        CHECK(said.status == 0);
        CHECK_FALSE(said.output.empty());
    }
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
          "compare_models --study docs/examples/quick_test.json --input-shape x=1,3,8,8",
          "compare_models resnet18 --hardware H100 --sampling top-p",
          "compare_models resnet18 --hardware H100 --devices auto"}) {
        INFO(command);
        CHECK(workplace.run(std::string(command) + " 2>&1").status == 1);
    }
    // A flag about money shows money.
    for (const char* command : {"compare_models resnet18 --hardware H100 --years 1",
                                "compare_models resnet18 --hardware H100 --price H100=2.5/h",
                                "compare_architectures resnet18 --pue 2"}) {
        INFO(command);
        const Said said = workplace.run(std::string(command) + " 2>&1");
        CHECK(said.status == 0);
        CHECK_THAT(said.output, Catch::Contains("USD"));
    }
    for (const char* command : {"compare_models resnet18 --hardware H100 --years 1 --cost",
                                "compare_models resnet18 --hardware H100 --batch-size 1k",
                                "compare_models resnet18 --hardware H100 --years 1 --format csv",
                                "compare_models resnet18 --hardware H100 --top 1k"}) {
        INFO(command);
        CHECK(workplace.run(std::string(command) + " 2>&1").status == 0);
    }
}

TEST_CASE("flags of other tools of the field lead to ours", "[cli]") {
    const Workplace workplace;
    const auto says = [&](const std::string& command, const std::string& words) {
        INFO(command);
        const Said said = workplace.run(command + " 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains(words));
    };
    says("compare_models resnet18 --device H100", "is --hardware meant?");
    says("compare_architectures resnet18 --gpu H100", "is --hardware meant?");
    says("compare_models resnet18 --dtype int8", "is --precision meant?");
    says("local_models --on H100 --quant int4", "is --formats meant?");
    says("compare_models resnet18 --backend tensorrt", "is --runtime meant?");
    says("serve_model qwen3-0.6b --hardware H100 --qps 3", "is --rate meant?");
    says("serve_model qwen3-0.6b --hardware H100 --max-loras 4", "adapters are not estimated");
    says("analyze_batch resnet18 --hardware H100 --batch 1,2", "is --batch-size meant?");
    says("compare_models llama-3-8b --max-new-tokens 5", "is --generate-tokens meant?");
    says("compare_models bert-large --sequence-length 384", "is --dim meant?");
    says("compare_models resnet50 --hardware TPU-v4 --bandwidth 2x",
         "sweep_design_space --vary bandwidth=1x,2x");
    says("compare_models resnet50 --hardware TPU-v4 --change bandwidth=2x", "sweep_design_space --vary");
    // What stands where no value is expected is told why.
    says("compare_architectures resnet18 --batch-sweep 1 8 64", "with commas: 1,8,64");
    says("compare_architectures resnet18 --sensitivity latency", "--sensitivity takes no value");
}

TEST_CASE("devices are named alike in every tool that takes one", "[cli]") {
    const Workplace workplace;
    CHECK(workplace.run("local_models --hardware RTX-4090 --top 1 --format csv").output ==
          workplace.run("local_models --on RTX-4090 --top 1 --format csv").output);
    CHECK(workplace.run("list_hardware_mappers --hardware H100 --format csv").output ==
          workplace.run("list_hardware_mappers --show H100 --format csv").output);
}

TEST_CASE("no list of choices ends with nothing", "[cli]") {
    const Workplace workplace;
    for (const std::string& tool : names_of_tools()) {
        INFO(tool);
        CHECK_FALSE(
            std::regex_search(workplace.run(tool + " --help-all").output, std::regex(R"([a-z0-9]\|(\s|$))")));
    }
}

TEST_CASE("a file that is written is named, under its verdict", "[cli]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models resnet18 --hardware H100 A100", "serve_model qwen3-0.6b --hardware H100 --rate 2",
          "list_hardware_mappers --category tpu", "discover_models"})
        for (const char* file : {"x.html", "x.md", "x.csv"}) {
            INFO(command << " to " << file);
            const std::string line = std::string(command) + " --output " + file;
            const Said said = workplace.run(line + " 2>&1"), quiet = workplace.run(line + " --quiet 2>&1");
            CHECK_THAT(said.output, Catch::EndsWith(std::string(file) + " is written.\n"));
            CHECK(quiet.output.empty());
            if (std::string(file) == "x.html") { // its first lines stand on the page, too
                CHECK(std::count(said.output.begin(), said.output.end(), '\n') == 2);
            }
        }
}

TEST_CASE("what is open is not printed as zero", "[cli]") {
    const Workplace workplace;
    const std::string file = ARCHSIM_SOURCE_DIR "/models/onnx/resnet50.onnx";
    for (const char* format : {"text", "markdown", "html"}) {
        const Said said =
            workplace.run("compare_models " + file + " --hardware H100 --format " + format + " 2>&1");
        INFO(said.output.substr(0, 2000));
        CHECK(said.status == 3);
        CHECK_THAT(said.output, Catch::Contains("unknown until all sizes are given") &&
                                    !Catch::Contains("0 operations") && !Catch::Contains("100 % (175"));
    }
}

TEST_CASE("classes of models have their models", "[cli]") {
    const Workplace workplace;
    for (const char* command : {"compare_architectures resnet50 --by-class",
                                "compare_architectures --by-class --runtime webgpu webnn"}) {
        const Said said = workplace.run(std::string(command) + " 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("is one too many"));
    }
}

TEST_CASE("splits over devices say which of them nobody measured", "[cli]") {
    const Workplace workplace;
    const std::string said = workplace.run("compare_architectures resnet18 --level subgraph").output;
    const std::string split = said.substr(said.find("Split over two devices:"));
    for (const char* projected : {"TPU", "KPU"})
        for (std::size_t at = split.find(projected); at != std::string::npos && at < split.find("\n\n");
             at = split.find(projected, at + 1))
            CHECK(split.substr(at + 3, 12) == " (projected)");
}

TEST_CASE("names that nobody has lead to those that are near, by what people call them", "[cli]") {
    const Workplace workplace;
    const auto said = [&](const std::string& command) { return workplace.run(command + " 2>&1").output; };
    CHECK_THAT(said("compare_models openai-community/gtp2 --hardware H100"),
               Catch::Contains("nearest: gpt2"));
    CHECK_THAT(said("compare_models stable-diffusion-7 --hardware H100"),
               Catch::Contains("nearest: ") && Catch::Contains("iffusion"));
    CHECK_THAT(said("compare_models ./no/such.onnx --hardware H100"), Catch::Contains("cannot be opened"));
    CHECK_THAT(said("compare_models resnet18 --hardware 'TPU v5'"),
               Catch::Contains("is TPU-v5e, TPU-v5p or"));
    CHECK_THAT(said("analyze_graph_mapping resnet18 --hardware gpu"), Catch::Contains("--category gpu"));
    CHECK_THAT(said("compare_models resnet18 --hardware NPU"), Catch::Contains("Hailo-8")); // all of them
    CHECK_THAT(said("compare_models resnet18 --hardware 'iPhone 17'"), Catch::Contains("iPhone"));
    CHECK_THAT(said("compare_models llama-3-8b --hardware H100 --users 32"),
               Catch::Contains("size_service has it"));
    CHECK_THAT(said("serve_model llama-3-8b --hardware H100 --users 32"),
               Catch::Contains("is --concurrency meant?")); // users of a sizing think between questions
    CHECK_THAT(said("compare_models llama-3-8b --hardware H100 --ttft 1s"),
               Catch::Contains("is --max-first-token meant?"));
    CHECK_THAT(said("local_models --on RTX-3060 --min-tps 20"),
               Catch::Contains("is --min-tokens-per-s meant?"));
    // What people type first is taken, where it can mean one thing alone.
    const auto answer = [&](const std::string& words) {
        return workplace.run(words + " --format csv").output;
    };
    CHECK(answer("list_hardware_mappers --family kpu") == answer("list_hardware_mappers --category kpu"));
    CHECK(answer("local_models --on RTX-3060 --min-speed 90") ==
          answer("local_models --on RTX-3060 --min-tokens-per-s 90"));
    CHECK_THAT(said("discover_models resent50"), Catch::Contains("nearest: resnet50"));
    CHECK_THAT(said("discover_models resnet"), Catch::Contains("resnet18"));
}

TEST_CASE("the memory of a computer is that of its models, however it is written", "[cli]") {
    const Workplace workplace;
    const auto rows = [&](const std::string& machine) {
        const std::string csv = workplace.run("local_models --on '" + machine + "' --format csv").output;
        return std::count(csv.begin(), csv.end(), '\n') < 2 ? std::string() : csv;
    };
    const std::string small = rows("Apple-M2-GPU@16GB"), large = rows("Apple-M2-GPU@24GB");
    REQUIRE_FALSE(small.empty());
    CHECK(rows("MacBook Air M2 16GB") == small);
    CHECK(rows("MacBook Air M2, 16GB") == small);
    CHECK(small != large);
}

TEST_CASE("a device alone that misses a limit says so first", "[cli]") {
    const Workplace workplace;
    for (const char* limit :
         {"--max-latency 0.1ms", "--max-power 10W", "--min-throughput 1M", "--max-energy 1uJ"}) {
        const Said said = workplace.run(std::string("compare_models resnet18 --hardware H100 ") + limit);
        CHECK(said.status == 4);
        const std::size_t verdict = said.output.find("\n\n") + 2;
        CHECK_THAT(said.output.substr(verdict, 100), Catch::StartsWith("H100 misses the limit: "));
    }
    CHECK_THAT(workplace.run("compare_models resnet18 --hardware H100 --max-latency 1s").output,
               !Catch::Contains("misses"));
}

TEST_CASE("a batch that does not fit says how many sequences do, and so many do", "[cli]") {
    const Workplace workplace;
    const std::string question = "compare_models llama-3-8b --hardware RTX-4090 --precision bf16 "
                                 "--prompt-tokens 8k --generate-tokens 1k --batch-size ";
    const std::string said = workplace.run(question + "32").output;
    std::smatch found;
    const std::regex words(R"((\d+) of the 32\s+sequences\s+fit)");
    REQUIRE(std::regex_search(said, found, words));
    const int fit = std::stoi(found[1]);
    CHECK(workplace.run(question + std::to_string(fit)).status == 0);
    CHECK(workplace.run(question + std::to_string(fit + 1)).status == 4);
}

TEST_CASE("a difference takes two of something", "[cli]") {
    const Workplace workplace;
    const Said said = workplace.run("explain_difference resnet18 --hardware H100 2>&1");
    CHECK(said.status == 1);
    CHECK_THAT(said.output, Catch::Contains("two of something"));
    CHECK(workplace.run("explain_difference resnet18 --hardware H100 --dim height=224,320").status == 0);
}
