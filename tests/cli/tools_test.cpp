// The tools as users run them: help, examples, formats, files, exit statuses, completions.

#include "cli/workplace.hpp"
#include "hardware/schema_check.hpp"
#include "support/lines.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace archsim::test;

namespace fs = std::filesystem;

std::vector<std::string> tools() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(ARCHSIM_SOURCE_DIR) / "cli"))
        if (entry.path().extension() == ".cpp")
            names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// The commands under "Examples:", continued lines joined.
std::vector<std::string> examples_of(const std::string& help) {
    std::vector<std::string> examples;
    std::istringstream stream(help.substr(help.find("Examples:")));
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line) && line.starts_with("  ")) {
        while (line.ends_with('\\')) {
            std::string more;
            std::getline(stream, more);
            line.replace(line.size() - 1, 1, more);
        }
        examples.push_back(line);
    }
    return examples;
}

/// Whether an example asks about the row's device alone.
bool in_an_example(const std::string& row) {
    for (const char* name : {",Coral-Edge-TPU,", ",QCS8550,", ",RTX-4090,"})
        if (row.find(name) != std::string::npos)
            return true;
    return false;
}

/// Every eighth row of what is measured, in files of the same names: scripts/docs --check runs all of them.
/// Whole stays what is no table of measurements.
void thin_out_measurements(const Workplace& workplace) {
    const fs::path source = fs::path(ARCHSIM_SOURCE_DIR) / "tests/measured",
                   folder = workplace.folder() / "tests/measured";
    fs::remove(folder / "energy");
    fs::create_directory(folder / "energy");
    for (const char* inside : {".", "energy"})
        for (const auto& entry : fs::directory_iterator(source / inside)) {
            const fs::path name = inside / entry.path().filename();
            std::ifstream all(entry.path());
            std::string line;
            if (name.extension() != ".csv" || name == "./serving.csv" || !std::getline(all, line) ||
                line.find(",metric,") == std::string::npos)
                continue;
            fs::remove(folder / name);
            std::ofstream some(folder / name);
            some << line << '\n';
            for (int row = 0; std::getline(all, line); ++row)
                if (row % 8 == 0 || in_an_example(line))
                    some << line << '\n';
        }
}

} // namespace

TEST_CASE("every tool explains itself, and its examples work", "[cli][examples]") {
    const Workplace workplace;
    thin_out_measurements(workplace);
    for (const std::string& tool : tools()) {
        INFO(tool);
        const Said help = workplace.run(tool + " --help");
        CHECK(help.status == 0);
        const Said version = workplace.run(tool + " --version");
        CHECK(version.status == 0);
        CHECK_THAT(version.output, Catch::StartsWith(tool + " "));
        CHECK(workplace.run(tool + " --no-such-flag 2>/dev/null").status == 1);
        const auto lines = lines_of(help.output);
        CHECK(lines.size() <= 65); // a screen
        for (const std::string& line : lines)
            CHECK((line.size() <= 100 || line.starts_with("  " + tool))); // but for examples
        const Said all = workplace.run(tool + " --help-all");
        CHECK(all.status == 0);
        CHECK_THAT(all.output, !Catch::Contains("Excludes"));
        const auto examples = examples_of(all.output);
        CHECK(examples.size() >= 2);
        for (const std::string& example : examples) {
            INFO(example);
            const Said said = workplace.run(example + " 2>&1");
            INFO(said.output.substr(0, 500));
            // A stand-in for the user's model may leave sizes open; a copied device file has another's name.
            const bool stands_in = example.find("./my_model.onnx") != std::string::npos;
            const bool checks = example.find("--check") != std::string::npos;
            CHECK((said.status == 0 || (said.status == 3 && (stands_in || tool == "validate_estimates")) ||
                   (said.status == 2 && checks)));
        }
    }
}

TEST_CASE("manual pages and completions come from the parser", "[cli]") {
    const Workplace workplace;
    for (const std::string& tool : tools()) {
        INFO(tool);
        const Said page = workplace.run(tool + " --help-format man");
        CHECK(page.status == 0);
        for (const char* part : {".TH ", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES", "\\-\\-format"})
            CHECK_THAT(page.output, Catch::Contains(part));
        CHECK(workplace.run(tool + " --help-format bash | bash -n").status == 0);
        CHECK_THAT(workplace.run(tool + " --help-format zsh").output, Catch::StartsWith("#compdef " + tool));
        CHECK_THAT(workplace.run(tool + " --help-format fish").output,
                   Catch::Contains("complete -c " + tool));
        CHECK(workplace.run(tool + " --help-format troff 2>/dev/null").status == 1);
    }
    const auto completed = [&](const std::string& line) {
        // What bash does on Tab: the words of the line, the last one incomplete.
        return workplace
            .run("bash -c 'source <(compare_models --help-format bash); COMP_WORDS=(" + line +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _compare_models; echo \"${COMPREPLY[@]}\"'")
            .output;
    };
    CHECK_THAT(completed("compare_models resnet5"), Catch::Contains("resnet50"));
    CHECK_THAT(completed("compare_models resnet50 --hardware H10"), Catch::Contains("H100"));
    CHECK_THAT(completed("compare_models resnet50 --hardware H100 A10"), Catch::Contains("A100"));
    CHECK_THAT(completed("compare_models resnet50 --deployment ed"), Catch::Contains("edge"));
    CHECK_THAT(completed("compare_models resnet50 --runtime tensor"), Catch::Contains("tensorrt"));
    CHECK_THAT(completed("compare_models resnet50 --format mark"), Catch::Contains("markdown"));
    CHECK_THAT(completed("compare_models --batch"), Catch::Contains("--batch-size"));
}

namespace {

/// Every row of a device with an estimate or without says what it rests on, but for those of a measurement.
void check_evidence(const nlohmann::json& document) {
    if (document.is_object() && document.contains("hardware") && document.contains("status") &&
        !document.contains("predicted")) {
        INFO(document.dump().substr(0, 200));
        CHECK(document.contains("evidence"));
    }
    if (document.is_structured())
        for (const nlohmann::json& one : document)
            check_evidence(one);
}

} // namespace

TEST_CASE("JSON documents keep to the schemas that their tools print", "[cli][schemas]") {
    const Workplace workplace;
    const std::vector<std::string> commands = {
        "compare_models resnet18 --deployment edge",
        "compare_models llama-3-70b --hardware T4 H100 Coral-Edge-TPU --precision fp16",
        "compare_models tinyllama-1.1b --hardware H100 --precision fp16 --prompt-tokens 64 --generate-tokens "
        "16",
        "compare_models resnet18 --hardware A100 Coral-Edge-TPU --percentiles --rate 1000",
        "compare_models whisper-tiny --hardware A100 --precision fp16",
        "profile_graph mobilenet_v2",
        "list_hardware_mappers --category kpu",
        "list_hardware_mappers --show TPU-v4",
        "list_hardware_mappers --check mychip.json",
        "validate_estimates --measurements my_board.csv",
        "calibrate_device A100 --measurements my_board.csv",
        "analyze_graph_mapping resnet18 --hardware KPU-T256",
        "analyze_graph_mapping llama-3-70b --hardware T4 --precision fp16",
        "analyze_batch resnet18 --hardware A100 Hailo-8 --batch-sizes 1,8 --max-latency 1ms",
        "analyze_comprehensive resnet18 --hardware TPU-v4 --precision int8 --batch-sizes 1,4 --max-power "
        "100W",
        "analyze_comprehensive llama-3-70b --hardware T4 --precision fp16",
        "explain_difference resnet18 resnet34 --hardware H100 --precision fp16",
        "explain_difference resnet18 --hardware H100 --batch-size 1 8 --metric memory",
        "check_budget resnet18 --hardware H100 Coral-Edge-TPU --fail-on 'latency>1ns'",
        "check_model vit_b_16 --hardware Coral-Edge-TPU Hailo-8 H100 --precision int8",
        "discover_models --family resnet",
        "serve_model tinyllama-1.1b --hardware H100 Coral-Edge-TPU --precision fp16 --rate 2 --requests 50",
        "size_service tinyllama-1.1b --hardware H100 T4 Coral-Edge-TPU --rate 20 --tpot-p99 20ms --requests "
        "100",
        "size_service tinyllama-1.1b --hardware T4 --users 4 --ttft-p99 1us --requests 40",
        "local_models --on GTX-1650 --host Core-i7-12700H --formats int4 --context 1k",
        "local_models --on GTX-1650 --kind vision",
        "discover_models my_models",
        "sweep_design_space resnet18 --hardware TPU-v4 A100 --vary bandwidth=0.5x,1x,2x --pareto latency "
        "energy --sensitivity latency --top 2"};
    for (const std::string& command : commands) {
        INFO(command);
        const std::string tool = command.substr(0, command.find(' '));
        const Said said = workplace.run(command + " --format json --quiet");
        const auto document = nlohmann::json::parse(said.output);
        CHECK(document.at("schema") == "archsim." + tool + "/1");
        const archsim::SchemaCheck schema(
            nlohmann::json::parse(workplace.run(tool + " --help-format schema").output));
        for (const archsim::Finding& finding : schema.validate(document, command)) {
            INFO(to_string(finding));
            CHECK(false);
        }
        check_evidence(document);
        // A schema that accepts anything would prove nothing.
        auto damaged = document;
        damaged["surprise"] = 1;
        CHECK_FALSE(schema.validate(damaged, command).empty());
    }
}

TEST_CASE("the request of an answer, asked again, has the same answer", "[cli]") {
    const Workplace workplace;
    const std::vector<std::string> commands = {
        "compare_models resnet50 --hardware H100 A100 --batch-size 4 --dim height=256 --dim width=256 "
        "--max-latency 1ms --min-throughput 10k --pareto latency energy",
        "compare_models resnet18 mobilenet_v2 --deployment edge --precision fp16 int8 --runtime tensorrt",
        "compare_models tinyllama-1.1b --hardware H100 Raspberry-Pi-5",
        "compare_models qwen3-0.6b --hardware H100 --prompt-tokens 1k --generate-tokens 16 --context 4k",
        "analyze_batch resnet18 --hardware A100 Hailo-8 --batch-sizes 1,8 --max-latency 1ms",
        "analyze_comprehensive bert-base --hardware H100 --dim sequence=64",
        "analyze_graph_mapping resnet18 --hardware KPU-T64@3W --precision int8",
        "check_budget resnet18 --hardware H100 Hailo-8 --max-latency 5ms --certainty 90 --fail-on "
        "'memory>1GB'",
        "check_model vit_b_16 --hardware Coral-Edge-TPU H100 --precision int8 --batch-size 2",
        "compare_architectures resnet18 --architectures GPU TPU --max-power 300W --metric latency",
        "profile_graph resnet18 --batch-size 2",
        "serve_model tinyllama-1.1b --hardware H100 T4 --rate 2 --requests 50",
        "serve_model tinyllama-1.1b --hardware H100 --ttft-p99 50ms --requests 50 --parallel tp=1 --parallel "
        "tp=2",
        "size_service tinyllama-1.1b --hardware T4 H100 --users 4 --ttft-p99 1s --requests 40",
        "size_service tinyllama-1.1b --hardware H100 --rate 20 --precision bf16 fp8 --requests 40",
        "local_models qwen3-0.6b --on 'RTX 3060, 32GB' --context 1k --formats int4 bf16"};
    for (const std::string& command : commands) {
        INFO(command);
        const std::string tool = command.substr(0, command.find(' '));
        const Said first = workplace.run(command + " --format json --quiet");
        const auto request = nlohmann::json::parse(first.output).at("request");
        INFO(request.dump());
        std::ofstream(workplace.folder() / "request.json") << request;
        const Said again = workplace.run(tool + " --config request.json --format json --quiet 2>&1");
        CHECK(again.status == first.status);
        CHECK(lines_of(again.output) == lines_of(first.output));
    }
}

TEST_CASE("output goes to files by extension, and a failed write leaves the old file", "[cli]") {
    const Workplace workplace;
    const std::string tool = "analyze_batch resnet18 --hardware A100 --batch-sizes 1,2 --quiet";
    for (const auto& [extension, start] :
         {std::pair{"md", "# BATCH"}, {"csv", "hardware,"}, {"html", "<!doctype"}, {"json", "{"}}) {
        const std::string file = std::string("answer.") + extension;
        CHECK(workplace.run(tool + " --output " + file).status == 0);
        CHECK_THAT(read(workplace.folder() / file), Catch::StartsWith(start));
    }
    CHECK(workplace.run(tool + " --output answer.unknown 2>/dev/null").status == 1);
    // A file limit of zero blocks makes the write fail after the file was opened.
    const std::string before = read(workplace.folder() / "answer.md");
    const Said failed = workplace.run("(trap '' XFSZ; ulimit -f 0; " + tool + " --output answer.md) 2>&1");
    CHECK(failed.status == 2);
    CHECK_THAT(failed.output, Catch::Contains("the old file, if any, is unchanged"));
    CHECK(read(workplace.folder() / "answer.md") == before);
    for (const auto& entry : fs::directory_iterator(workplace.folder()))
        CHECK_FALSE(entry.path().filename().string().starts_with(".archsim-"));
    CHECK(workplace.run("compare_models resnet18 --hardware A100 T4 --subgraphs parts.csv --output all.csv")
              .status == 0);
    const std::string parts = read(workplace.folder() / "parts.csv"),
                      all = read(workplace.folder() / "all.csv");
    CHECK(std::count(all.begin(), all.end(), '\n') == 3);
    CHECK(std::count(parts.begin(), parts.end(), '\n') > 40);
    CHECK_THAT(all, Catch::StartsWith("model,batch_size,hardware,"));
}

TEST_CASE("text keeps to what the terminal can show", "[cli]") {
    const Workplace workplace;
    const Said plain =
        workplace.run("analyze_graph_mapping resnet18 --hardware A100 --show-roofline --show-memory --ascii");
    CHECK(plain.status == 0);
    for (const char c : plain.output)
        REQUIRE((static_cast<unsigned char>(c) & 0x80) == 0);
    CHECK(plain.output.find('\033') == std::string::npos);
    CHECK(workplace.run("compare_models resnet18 --hardware A100 --color always").output.find('\033') !=
          std::string::npos);
    CHECK(workplace.run("compare_models resnet18 --hardware A100 --color always --no-color")
              .output.find('\033') == std::string::npos);
    // No terminal, no progress.
    CHECK(workplace.run("discover_models --top 1 2>&1 >/dev/null").output.empty());
    CHECK_THAT(workplace.run("compare_models resnet18 --deployment edge --top 1").output,
               Catch::Contains("more: --top 0"));
}
