#include "archsim/hardware/database.hpp"

#include "hardware/parameter_site.hpp"
#include "hardware/temporary_database.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("a software stack is read and resolved against a device", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    auto other = small_device("Acme-2");
    other["generation"] = "acme-2";
    other["fitted"] = nlohmann::json::parse(R"({
      "matrix_efficiency": {"value": 0.5, "unit": "1", "source": "S3", "n": 9, "error": 0.1},
      "stack": {"kernel_overhead": {"value": 7, "unit": "us", "source": "S3", "n": 9, "error": 0.1}},
      "elsewhere": {"matrix_efficiency": {"value": 0.1, "unit": "1", "source": "S3", "n": 9, "error": 0.1}}
    })");
    files.add_device(other);
    files.add_runtime(small_runtime("stack"));
    const HardwareDatabase database(files.root());
    const auto first = database.device("Acme-1").device;
    const auto runtime = database.runtime_for(*first);
    CHECK(runtime->id == "stack");
    CHECK_FALSE(runtime->fusion.attention);
    CHECK(runtime->fusion.activation);
    CHECK(runtime->combine_exponent.value == 4);
    CHECK(runtime->graph_capture);
    CHECK(runtime->fallback == Fallback::host);
    CHECK(runtime->findings.empty());

    const ParameterSet set = resolve_parameters(*first, *runtime);
    CHECK(set.fact(Parameter::kernel_overhead).value == Approx(3e-6)); // its generation's
    CHECK(set.fact(Parameter::kernel_overhead).source->cite == "a study");
    CHECK(set.get(Parameter::matrix_efficiency, 1) == 0.8);
    CHECK(set.get(Parameter::depthwise_efficiency, 0.25) == 0.25); // no such mechanism here

    const auto second = database.device("Acme-2").device;
    const ParameterSet fitted = resolve_parameters(*second, *runtime);
    CHECK(fitted.get(Parameter::matrix_efficiency, 1) == 0.5);        // the device's own fit
    CHECK(fitted.get(Parameter::kernel_overhead, 1) == Approx(7e-6)); // of this stack
}

TEST_CASE("which stack serves which device", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    files.add_runtime(small_runtime("stack"));
    auto foreign = small_runtime("foreign");
    foreign["vendors"] = {"Other"};
    foreign["aliases"] = {"strange"};
    files.add_runtime(foreign);
    const HardwareDatabase database(files.root());
    const auto device = database.device("Acme-1").device;
    CHECK(database.runtime("stack")->serves(*device));
    CHECK_FALSE(database.runtime("STRANGE")->serves(*device));
    CHECK_THROWS_WITH(database.runtime_for(*device, "foreign"), Catch::Contains("does not run on Acme-1"));
    // A device that names no stack of its own is served by those made for its kind.
    auto bare = small_device("Bare");
    bare.erase("runtimes");
    bare.erase("default_runtime");
    files.add_device(bare);
    const HardwareDatabase again(files.root());
    CHECK(again.runtime("stack")->serves(*again.device("Bare").device));
    CHECK_FALSE(again.runtime("foreign")->serves(*again.device("Bare").device));
    files.add_runtime(small_runtime("general"));
    CHECK_FALSE(HardwareDatabase(files.root()).runtime("general")->serves(*device));
    CHECK_THROWS_WITH(database.runtime("stak"), Catch::Contains("is stack meant?"));
    CHECK(database.runtime_ids() == std::vector<std::string>{"foreign", "stack"});
}

TEST_CASE("a stack's mistakes are findings", "[hardware]") {
    TemporaryDatabase files;
    auto wrong = small_runtime("wrong");
    wrong["parameters"]["kernel_overhed"] = wrong["parameters"]["kernel_overhead"];
    files.add_runtime(wrong);
    auto worse = small_runtime("worse");
    worse["parameters"]["matrix_efficiency"]["value"] = 3;
    files.add_runtime(worse);
    const HardwareDatabase database(files.root());
    const auto runtime = database.runtime("wrong");
    REQUIRE(runtime->findings.size() == 1);
    CHECK(runtime->findings[0].where == "/parameters/kernel_overhed");
    CHECK_THAT(runtime->findings[0].hint, Catch::Contains("kernel_overhead"));
    CHECK_THROWS_WITH(database.runtime("worse"), Catch::Contains("/parameters/matrix_efficiency/value"));
}

TEST_CASE("a row of kernels states the cost of one kind, by generation like any other", "[hardware]") {
    TemporaryDatabase files;
    auto stack = small_runtime("stack");
    const nlohmann::json cost = {{"value", 7}, {"unit", "cycles"}, {"source", "S1"}};
    stack["kernels"]["lookup"]["cycles"] = cost;
    stack["kernels"]["depthwise"] = {
        {"efficiency", {{"by_generation", {{"acme-1", {{"value", 0.5}, {"unit", "1"}, {"source", "S2"}}}}}}}};
    files.add_runtime(stack);
    files.add_device(small_device("Acme-1"));
    auto wrong = small_runtime("wrong");
    wrong["kernels"]["lookup"]["passes"] = cost;
    wrong["parameters"]["lookup_cycles"] = cost;
    files.add_runtime(wrong);
    const HardwareDatabase database(files.root());
    const auto runtime = database.runtime("stack");
    REQUIRE(runtime->findings.empty());
    const ParameterSet set = resolve_parameters(*database.device("Acme-1").device, *runtime);
    CHECK(set.get(Parameter::lookup_cycles, 0) == 7);
    CHECK(set.get(Parameter::depthwise_efficiency, 0) == 0.5);
    CHECK(place_in_stack(Parameter::lookup_cycles) == "/kernels/lookup/cycles");
    CHECK(place_in_stack(Parameter::sync_time) == "/parameters/sync_time");
    const auto& findings = database.runtime("wrong")->findings;
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].where == "/parameters/lookup_cycles");
    CHECK_THAT(findings[0].hint, Catch::Contains("/kernels/lookup/cycles"));
    CHECK(findings[1].where == "/kernels/lookup/passes");
}

TEST_CASE("deployments are listed and looked up", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    files.write("deployments.json", R"({"deployments": [
      {"id": "edge", "title": "Edge box", "description": "under 25 W", "hardware": ["Acme-1@25W"]}]})");
    const HardwareDatabase database(files.root());
    CHECK(database.deployment("EDGE").hardware == std::vector<std::string>{"Acme-1@25W"});
    CHECK_THROWS_WITH(database.deployment("egde"), Catch::Contains("is edge meant?"));
    CHECK(database.device_ids() == std::vector<std::string>{"Acme-1"});
}

TEST_CASE("a stack states what its part for one family joins otherwise", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    for (const char* family : {"gpu", "gpus"})
        files.write(fmt::format("runtimes/{}-stack.json", family), fmt::format(R"({{
          "id": "{0}-stack", "name": "x", "families": ["gpu", "cpu"],
          "fusion": {{"activation": false, "attention": false,
                     "by_family": {{"{0}": {{"strided_views": true, "attention": true}}}}}},
          "combine_exponent": {{"value": "added", "source": "S1"}}, "fallback": "none", "parameters": {{}},
          "sources": {{"S1": {{"kind": "measured", "cite": "own runs"}}}}
        }})",
                                                                               family));
    const HardwareDatabase database(files.root());
    const auto stack = database.runtime("gpu-stack");
    CHECK(stack->findings.empty());
    CHECK(stack->fusion_on(*parse_family("cpu")) == stack->fusion);
    const FusionPolicy& own = stack->fusion_on(*parse_family("gpu"));
    CHECK(own.strided_views);
    CHECK(own.attention);
    CHECK_FALSE(own.activation); // as for all families
    CHECK_THROWS_WITH(database.runtime("gpus-stack"), Catch::Contains("\"gpus\" is not a family"));
}

TEST_CASE("a stack states how it differs from another", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    files.add_runtime(small_runtime("stack"));
    files.write("runtimes/stack-1.json", R"({
      "id": "stack-1", "name": "An older release", "extends": "stack",
      "measured_as": [{"stack": "stack", "until": 2022, "variant": "old"}],
      "fusion": {"activation": false},
      "parameters": {"matrix_efficiency": {"value": 0.6, "unit": "1", "source": "S1"}},
      "sources": {"S1": {"kind": "measured", "cite": "own runs"}}
    })");
    files.write("runtimes/lost.json", R"({"id": "lost", "name": "x", "extends": "stak"})");
    const HardwareDatabase database(files.root());
    const auto device = database.device("Acme-1").device;
    const auto older = database.runtime_for(*device, "stack-1");
    CHECK(older->findings.empty());
    CHECK_FALSE(older->fusion.activation);
    CHECK_FALSE(older->fusion.attention); // of the base
    CHECK(older->base == "stack");
    CHECK(older->serves(*device)); // which names the base only
    CHECK(older->graph_capture);
    const ParameterSet set = resolve_parameters(*device, *older);
    CHECK(set.get(Parameter::matrix_efficiency, 1) == 0.6);
    CHECK(set.fact(Parameter::matrix_efficiency).source->cite == "own runs");
    CHECK(set.get(Parameter::kernel_overhead, 1) == Approx(3e-6));
    CHECK(set.fact(Parameter::kernel_overhead).source->cite == "a study"); // the base's source of that key
    REQUIRE(older->measured_as.size() == 1);
    CHECK(older->measured_as[0].stack == "stack");
    CHECK(older->measured_as[0].until == 2022);
    CHECK(older->measured_as[0].variant == "old");
    CHECK(database.runtime("stack")->measured_as.empty());
    CHECK_THROWS_WITH(database.runtime("lost"),
                      Catch::Contains("/extends") && Catch::Contains("no software stack is called \"stak\""));
}

TEST_CASE("units whose instructions a stack has no kernels for stand still", "[hardware]") {
    // llama.cpp uses cooperative matrices of Intel from Xe2 on; Arc A770 was logged at 1,074 tokens of a
    // prompt per second, B580 at 621.
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    const auto multiplies = [&](const char* device, const char* stack) {
        const auto engines = database.device(device).device->engines;
        return std::ranges::any_of(engines, [&](const Engine& engine) {
            return engine.kind == EngineClass::matrix && uses(*database.runtime(stack), engine);
        });
    };
    for (const char* device : {"Arc-A770", "Arc-A580"}) {
        CHECK_FALSE(multiplies(device, "llama.cpp"));
        CHECK_FALSE(multiplies(device, "webgpu"));
        CHECK(multiplies(device, "openvino"));
    }
    CHECK(multiplies("Arc-B580", "llama.cpp"));
}
