// Numbers that measurements decided: all of them are marked, and can be taken back.

#include "archsim/hardware/database.hpp"
#include "hardware/stated_facts.hpp"
#include "hardware/temporary_database.hpp"
#include "support/places.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {} // namespace

TEST_CASE("tuned facts are reverted to what public facts say, on devices or everywhere",
          "[hardware][tuned]") {
    const HardwareDatabase stated(kDatabase);
    const HardwareDatabase devices(kDatabase, {}, TunedFacts::devices_reverted);
    const HardwareDatabase all(kDatabase, {}, TunedFacts::reverted);
    const auto link = [](const HardwareDatabase& database) {
        return database.device("A100").device->host_link_bandwidth.value;
    };
    CHECK(link(stated) == 22e9);
    CHECK(link(devices) == 26e9);
    CHECK(link(all) == 26e9);
    CHECK(stated.runtime("ncnn")->combine_exponent.value == 1);
    CHECK(devices.runtime("ncnn")->combine_exponent.value == 1);
    CHECK(all.runtime("ncnn")->combine_exponent.value == 4);
}

TEST_CASE("only numbers that measurements decided say what stood there before", "[hardware][tuned]") {
    const HardwareDatabase stated(kDatabase);
    const HardwareDatabase reverted(kDatabase, {}, TunedFacts::reverted);
    std::size_t moved = 0;
    const auto compare = [&](const std::vector<StatedFact>& before, const std::vector<StatedFact>& after) {
        REQUIRE(before.size() == after.size());
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i].value != after[i].value) {
                INFO(before[i].where << ": " << before[i].cite);
                CHECK(rests_on_measurements(before[i].kind));
                ++moved;
            }
    };
    for (const std::string& id : stated.device_ids())
        compare(stated.device_facts(id), reverted.device_facts(id));
    CHECK(moved > 40);
}

TEST_CASE("what a study of these measurements set is not called an estimate", "[hardware][tuned]") {
    const HardwareDatabase database(kDatabase);
    const auto check = [](const std::string& id, const std::vector<StatedFact>& facts) {
        for (const StatedFact& fact : facts) {
            const bool study = fact.cite.find("pilot study on published measurements") != std::string::npos;
            INFO(id << " " << fact.where << ": " << fact.cite);
            CHECK((!study || rests_on_measurements(fact.kind)));
        }
    };
    for (const std::string& id : database.device_ids())
        check(id, database.device_facts(id));
    for (const std::string& id : database.runtime_ids())
        check(id, database.runtime_facts(id));
}

TEST_CASE("row products of compressed weights reach one share of a memory, whichever the GPU",
          "[hardware][tuned]") {
    const HardwareDatabase database(kDatabase);
    const auto shares = [&](const char* stack) {
        std::vector<double> values;
        for (const ParameterEntry& entry : database.runtime(stack)->parameters) {
            if (entry.parameter != Parameter::dram_efficiency)
                continue;
            if (entry.value.known())
                values.push_back(entry.value.value);
            for (const auto& [generation, fact] : entry.by_generation)
                values.push_back(fact.value);
        }
        return values;
    };
    // Of llama.cpp's the second is that of chips whose stated bandwidth is that of this stack already. Its
    // share was fitted to newer rows than OpenVINO's.
    const std::vector<double> local = shares("llama.cpp"), intel = shares("openvino");
    REQUIRE(local.size() == 2);
    CHECK(local.back() == 1);
    REQUIRE(intel.size() == 2);
    CHECK(intel.front() == intel.back());
    CHECK(intel.front() == Approx(local.front()).epsilon(0.1));
}

TEST_CASE(
    "what a server's launch and a streaming kernel cost at least does not depend on how TensorRT is called",
    "[hardware][tuned]") {
    const HardwareDatabase database(kDatabase);
    const auto entry = [&](const char* stack, Parameter parameter) {
        const auto& all = database.runtime(stack)->parameters;
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const ParameterEntry& e) { return e.parameter == parameter; });
        REQUIRE(found != all.end());
        return *found;
    };
    for (const Parameter parameter : {Parameter::kernel_overhead, Parameter::simple_kernel_floor_cycles})
        for (const char* stack : {"tensorrt-8.4", "tensorrt-synchronous"})
            CHECK(entry(stack, parameter).value.value == entry("tensorrt", parameter).value.value);
    for (const char* stack : {"tensorrt", "tensorrt-8.4", "tensorrt-synchronous"})
        CHECK(entry(stack, Parameter::simple_kernel_floor_cycles).by_generation.empty());
}
