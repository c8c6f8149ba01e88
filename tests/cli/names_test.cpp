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
