// What people type when they do not remember a name or a flag exactly.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace archsim::test;

TEST_CASE("names are found without their punctuation and in any case", "[cli]") {
    const Workplace workplace;
    const std::string wanted =
        workplace.run("compare_models resnet50 --hardware RTX-4090 --format csv").output;
    for (const char* model : {"resnet-50", "ResNet50", "ResNet_50"}) {
        INFO(model);
        const Said said =
            workplace.run(std::string("compare_models ") + model + " --hardware rtx4090 --format csv");
        CHECK(said.status == 0);
        CHECK(said.output == wanted);
    }
}

TEST_CASE("an unknown model names the nearest, and none where none is near", "[cli]") {
    const Workplace workplace;
    const Said near = workplace.run("compare_models resnet5 --hardware H100 2>&1");
    CHECK(near.status == 2);
    CHECK_THAT(near.output, Catch::Contains("nearest: resnet50, "));
    for (const char* task :
         {"'keyword spotting'", "keyword-spotting", "visual_wake_words", "anomaly-detection"})
        CHECK_THAT(workplace.run(std::string("compare_models ") + task + " --hardware H100 2>&1").output,
                   Catch::Contains("MODEL ANALYSIS: MLPerf Tiny")); // its one network of that task
    for (const auto& [task, nearest] :
         {std::pair("'wake words'", "visual_wake_words"), std::pair("spotting", "keyword_spotting")})
        CHECK_THAT(workplace.run(std::string("compare_models ") + task + " --hardware H100 2>&1").output,
                   Catch::Contains(std::string("nearest: ") + nearest));
    const Said far = workplace.run("compare_models zzzzzz --hardware H100 2>&1");
    CHECK(far.status == 2);
    CHECK_THAT(far.output, Catch::Contains("no model \"zzzzzz\"; list them with discover_models") &&
                               !Catch::Contains("nearest"));
}

TEST_CASE("a folder is its ONNX files, or says what lists models", "[cli]") {
    const Workplace workplace;
    const Said said = workplace.run("compare_models docs --hardware H100 2>&1");
    CHECK(said.status == 2);
    CHECK_THAT(said.output, Catch::Contains("is a folder") && Catch::Contains("discover_models FOLDER"));
    const Said files =
        workplace.run("cp my_models/mobilenet.onnx my_models/other.onnx && compare_models my_models "
                      "--hardware H100 --dim batch=1");
    CHECK_THAT(files.output, Catch::Contains("2 models on 1 device"));
    const Said mapping = workplace.run("analyze_graph_mapping my_models --hardware H100 2>&1");
    CHECK(mapping.status == 2);
    CHECK_THAT(mapping.output, Catch::Contains("is a folder"));
}

TEST_CASE("a model comes from standard input, options from a file", "[cli]") {
    const Workplace workplace;
    const Said piped =
        workplace.run("compare_models - --hardware H100 --format csv < my_models/mobilenet.onnx");
    const Said named = workplace.run("compare_models my_models/mobilenet.onnx --hardware H100 --format csv");
    CHECK(piped.status == named.status);
    const auto numbers = [](const std::string& csv) { return csv.substr(csv.find(",H100,")); };
    REQUIRE(piped.output.find(",H100,") != std::string::npos);
    CHECK(numbers(piped.output) == numbers(named.output));
    CHECK(workplace.run("compare_models - --hardware H100 2>/dev/null < /dev/null").status == 2);

    workplace.run(
        "echo '{\"model\": \"resnet18\", \"hardware\": [\"H100\", \"T4\"], \"batch-size\": 4}' > ask.json");
    const Said kept = workplace.run("compare_models --config ask.json --format csv");
    CHECK(kept.status == 0);
    CHECK(kept.output ==
          workplace.run("compare_models resnet18 --hardware H100 T4 --batch-size 4 --format csv").output);
    CHECK(workplace.run("compare_models --config ask.json --batch-size 2 --format csv").output ==
          workplace.run("compare_models resnet18 --hardware H100 T4 --batch-size 2 --format csv").output);
    std::ofstream(workplace.folder() / "ask.toml")
        << "# the same question\nmodel = \"resnet18\"\nhardware = [\"A100\", \"T4\"]\nprecision = 'fp16'\n"
           "verbose = false\n";
    CHECK(workplace.run("compare_models --config ask.toml --format csv").output ==
          workplace.run("compare_models resnet18 --hardware A100 T4 --precision fp16 --format csv").output);
    CHECK(workplace.run("compare_models --config none.toml 2>/dev/null").status == 2);
    CHECK(workplace.run("compare_models --config none.json 2>/dev/null").status == 2);
    workplace.run("echo '[1]' > list.json");
    CHECK(workplace.run("compare_models --config list.json 2>/dev/null").status == 2);
    std::ofstream(workplace.folder() / "long.toml") << "[" << std::string(100'000, '.') << "]\nmodel = 1\n";
    CHECK(workplace.run("compare_models --config long.toml 2>/dev/null").status == 2);
}

TEST_CASE("a file or folder that is named as a database of devices and is none is refused", "[cli]") {
    const Workplace workplace;
    std::ofstream(workplace.folder() / "deep.json") << std::string(60'000, '[');
    std::ofstream(workplace.folder() / "other.json") << "{\"hello\": 1}";
    workplace.run("mkdir empty");
    for (const char* named : {"deep.json", "other.json", "empty"})
        CHECK(workplace
                  .run(std::string("compare_models resnet18 --hardware H100 2>/dev/null --hardware-db ") +
                       named)
                  .status == 2);
}

TEST_CASE("NAME@all is a device in each of its modes", "[cli]") {
    const Workplace workplace;
    const Said all = workplace.run("compare_models resnet18 --hardware Jetson-Orin-Nano@all --format csv");
    CHECK(all.status == 0);
    for (const char* mode : {",7W,", ",15W,"})
        CHECK_THAT(all.output, Catch::Contains(mode));
    for (const char* tool : {"analyze_batch", "check_budget", "check_model", "sweep_design_space"})
        CHECK_THAT(
            workplace.run(tool + std::string(" resnet18 --hardware Jetson-Orin-Nano@all --quiet")).output,
            Catch::Contains("@7W") && Catch::Contains("@15W"));
    const Said none = workplace.run("compare_models resnet18 --hardware H100@all 2>&1");
    CHECK(none.status == 2);
    CHECK_THAT(none.output, Catch::Contains("H100 has no power modes"));
}

TEST_CASE("lists are separated by commas or spaces, and the model is a word or a flag", "[cli]") {
    const Workplace workplace;
    const auto said = [&](const std::string& command) {
        INFO(command);
        const Said answer = workplace.run(command + " --format csv 2>&1");
        CHECK(answer.status == 0);
        return answer.output;
    };
    CHECK(said("compare_models resnet18 --hardware H100,A100") ==
          said("compare_models --model resnet18 --hardware H100 A100"));
    CHECK(said("explain_difference resnet18 --hardware H100,A100 --precision fp16") ==
          said("explain_difference --model resnet18 --hardware H100 A100 --precision fp16"));
    CHECK(said("check_budget resnet18 mobilenet_v2 --hardware H100,A100 --fail-on 'latency>1s'") ==
          said("check_budget --model resnet18 mobilenet_v2 --hardware H100 A100 --fail-on 'latency>1s'"));
    CHECK(said("sweep_design_space resnet18 --hardware H100,A100 --batch-size 1,2") ==
          said("sweep_design_space --model resnet18 --hardware H100 A100 --batch-size 1 2"));
    const std::string sizes = " --hardware H100 --dim height=224 --dim width=224 ";
    CHECK(said("analyze_batch resnet18" + sizes + "--batch-size 1 2,4") ==
          said("< " ARCHSIM_SOURCE_DIR "/models/onnx/resnet18.onnx analyze_batch -" + sizes +
               "--batch-sizes 1,2,4"));
    CHECK(said("check_model resnet18 --hardware H100 --precision fp16") ==
          said("check_model --model resnet18 --hardware H100 --precision fp16"));
    CHECK(said("serve_model --model llama-3-8b --hardware H100,H200 --rate 1 --requests 20") ==
          said("serve_model llama-3-8b --hardware H100 H200 --rate 1 --requests 20"));
    const std::string batches = said("compare_models resnet18 --hardware H100 --batch-size 1 8");
    CHECK_THAT(batches, Catch::Contains("resnet18,1,H100") && Catch::Contains("resnet18,8,H100"));
    const Said late = workplace.run("compare_models --hardware H100 --batch-size 8 resnet18 2>&1");
    CHECK(late.status == 0);
    CHECK_THAT(late.output, Catch::Contains("ResNet-18") && Catch::Contains("batch = 8"));
    for (const char* both : {"--batch-size 8 9x", "--precision fp16 int9", "--devices 1 two"})
        CHECK(
            workplace.run(std::string("compare_models resnet18 --hardware H100 ") + both + " 2>&1").status ==
            1);
}

TEST_CASE("a row for each number of devices, under one name everywhere", "[cli]") {
    const Workplace workplace;
    const std::string prompt = " --prompt-tokens 64 --generate-tokens 8 --devices 1 2,4";
    for (const std::string tool : {"compare_models", "analyze_batch --batch-sizes 1,4"})
        for (const char* format : {"text", "markdown", "csv", "html", "json"}) {
            const std::string command =
                tool + " --model llama-3-8b --hardware H100" + prompt + " --format " + format;
            INFO(command);
            const Said said = workplace.run(command);
            CHECK(said.status == 0);
            CHECK_THAT(said.output, Catch::Contains("H100 x2") && Catch::Contains("H100 x4") &&
                                        !Catch::Contains("H100 x1"));
        }
    // Several of one kind are quicker than one, and each count is what it is when asked alone.
    const auto row = [&](const std::string& flags, const std::string& name) {
        const std::string csv =
            workplace
                .run("compare_models llama-3-8b --hardware H100 --prompt-tokens 64 --format csv " + flags)
                .output;
        const auto words_of = [](const std::string& line) {
            std::vector<std::string> words;
            std::istringstream in(line);
            for (std::string word; std::getline(in, word, ',');)
                words.push_back(word);
            return words;
        };
        const std::size_t at = csv.find("," + name + ",");
        REQUIRE(at != std::string::npos);
        const std::size_t start = csv.rfind('\n', at) + 1;
        const std::vector<std::string> header = words_of(csv.substr(0, csv.find('\n')));
        std::vector<std::string> words = words_of(csv.substr(start, csv.find('\n', at) - start));
        for (const char* of_others : {"rank", "probability"}) { // what depends on the other rows
            const auto at_word = std::find(header.begin(), header.end(), of_others) - header.begin();
            REQUIRE(static_cast<std::size_t>(at_word) < words.size());
            words[static_cast<std::size_t>(at_word)].clear();
        }
        return words;
    };
    CHECK(row("--devices 1 4", "H100 x4") == row("--devices 4", "H100 x4"));
    CHECK(row("--devices 1 4", "H100") == row("", "H100"));
    CHECK(workplace.run("check_budget llama-3-8b --hardware H100 --devices 1 2 2>/dev/null").status == 1);
}

TEST_CASE("an unknown flag names the nearest", "[cli]") {
    const Workplace workplace;
    for (const char* flag : {"--hardwre H100", "--hardwre=H100"}) {
        const Said said = workplace.run(std::string("compare_models resnet18 ") + flag + " 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("there is no --hardwre; is --hardware meant?"));
    }
}
