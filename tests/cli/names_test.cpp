// What people type when they do not remember a name or a flag exactly.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <string>

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
}

TEST_CASE("NAME@all is a device in each of its modes", "[cli]") {
    const Workplace workplace;
    const Said all = workplace.run("compare_models resnet18 --hardware Jetson-Orin-Nano@all --format csv");
    CHECK(all.status == 0);
    for (const char* mode : {",7W,", ",15W,"})
        CHECK_THAT(all.output, Catch::Contains(mode));
    const Said none = workplace.run("compare_models resnet18 --hardware H100@all 2>&1");
    CHECK(none.status == 2);
    CHECK_THAT(none.output, Catch::Contains("H100 has no power modes"));
}

TEST_CASE("devices may be separated by commas", "[cli]") {
    const Workplace workplace;
    const Said commas = workplace.run("compare_models resnet18 --hardware H100,A100 --format csv");
    CHECK(commas.status == 0);
    CHECK(commas.output == workplace.run("compare_models resnet18 --hardware H100 A100 --format csv").output);
}

TEST_CASE("an unknown flag names the nearest", "[cli]") {
    const Workplace workplace;
    for (const char* flag : {"--hardwre H100", "--hardwre=H100"}) {
        const Said said = workplace.run(std::string("compare_models resnet18 ") + flag + " 2>&1");
        CHECK(said.status == 1);
        CHECK_THAT(said.output, Catch::Contains("there is no --hardwre; is --hardware meant?"));
    }
}
