// What the checker says of numbers that physics or the best measured chip rules out.

#include "archsim/hardware/database.hpp"
#include "core/data_dir.hpp"

#include "hardware/schema_check.hpp"
#include "hardware/temporary_database.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

namespace {

std::string file_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Findings of a database with the shipped prices that holds one device.
std::vector<Finding> findings_of(const json& device) {
    constexpr const char* kOpen =
        R"({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})";
    TemporaryDatabase files;
    files.write("schema.json", kOpen);
    files.write("runtime_schema.json", kOpen);
    files.write("energy.json", file_text(data_dir() / "hardware_db" / "energy.json"));
    files.add_runtime(small_runtime("stack"));
    files.write(device["family"].get<std::string>() + "/" + device["id"].get<std::string>() + ".json",
                device.dump(1));
    return check_hardware(files.root());
}

const Finding* finding_at(const std::vector<Finding>& findings, const std::string& where) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.where == where; });
    return found == findings.end() ? nullptr : &*found;
}

json accelerator() {
    json device = small_device("Acme-1");
    device["family"] = "npu";
    device.erase("gpu");
    device["memory"][0]["bandwidth"] = {{"value", 400}, {"unit", "GB/s"}, {"source", "S1"}};
    return device;
}

} // namespace

TEST_CASE("nobody guesses the clock that a power limit leaves", "[hardware][check]") {
    json device = accelerator();
    device["sources"]["S9"] = {{"kind", "assumed"}, {"cite", "estimate"}};
    device["clocks"]["sustained"] = {{"value", 500}, {"unit", "MHz"}, {"source", "S9"}};
    const auto guessed = findings_of(device);
    REQUIRE(finding_at(guessed, "/clocks/sustained"));
    CHECK(finding_at(guessed, "/clocks/sustained")->kind == FindingKind::inconsistent);
    device["sources"]["S9"] = {{"kind", "measured"}, {"cite", "a log of clocks under load"}};
    CHECK(finding_at(findings_of(device), "/clocks/sustained") == nullptr);
}

TEST_CASE("an accelerator states how fast its memory feeds it", "[hardware][check]") {
    CHECK(finding_at(findings_of(accelerator()), "/memory/0/bandwidth") == nullptr);
    json device = accelerator();
    device["memory"][0].erase("bandwidth");
    const auto missing = findings_of(device);
    REQUIRE(finding_at(missing, "/memory/0/bandwidth"));
    CHECK(finding_at(missing, "/memory/0/bandwidth")->kind == FindingKind::missing_field);
    device["memory"][0]["bytes_per_clock"] = {{"value", 400}, {"unit", "B/clk"}, {"source", "S1"}};
    CHECK(finding_at(findings_of(device), "/memory/0/bandwidth") == nullptr);
    device.erase("memory");
    CHECK(finding_at(findings_of(device), "/memory/0/bandwidth"));
    json slow = accelerator(); // than its DRAM of 200 GB/s
    slow["memory"][0]["bandwidth"]["value"] = 100;
    const auto findings = findings_of(slow);
    REQUIRE(finding_at(findings, "/memory/0/bandwidth"));
    CHECK_THAT(finding_at(findings, "/memory/0/bandwidth")->message, Catch::Contains("200 GB/s exceeds"));
}

// Bare bf16 arithmetic takes 0.59 pJ at 7 nm (Jouppi, ISCA 2021) and 0.72 in fp16; x 0.78 at 5 nm.
TEST_CASE("a multiply-accumulate takes no less than its arithmetic", "[hardware][check][energy]") {
    json device = accelerator();
    const auto stated = [&](double picojoules) {
        device["energy"]["mac_fp16"] = {{"value", picojoules}, {"unit", "pJ/op"}, {"source", "S2"}};
        return findings_of(device);
    };
    CHECK(finding_at(stated(0.5 * 0.72 * 0.78 * 1.01), "/energy/mac_fp16") == nullptr);
    const auto findings = stated(0.5 * 0.72 * 0.78 * 0.99);
    REQUIRE(finding_at(findings, "/energy/mac_fp16"));
    CHECK_THAT(finding_at(findings, "/energy/mac_fp16")->message,
               Catch::Contains("bare arithmetic takes 0.562 pJ"));
}

TEST_CASE("nothing better than the best measured accelerator is assumed", "[hardware][check]") {
    const auto claims = [](const char* parameter, double measured, double assumed, const char* kind) {
        std::vector<std::shared_ptr<const Runtime>> runtimes;
        for (const bool first : {true, false}) {
            auto runtime = std::make_shared<Runtime>();
            runtime->families = {Family("npu")};
            auto source = std::make_shared<Source>();
            source->kind = first ? SourceKind::fitted : *value_named<SourceKind>(kind);
            ParameterEntry entry;
            entry.parameter = *parse_parameter(parameter);
            entry.value.value = first ? measured : assumed;
            entry.value.source = source;
            runtime->parameters.push_back(entry);
            runtimes.push_back(runtime);
        }
        return claims_beyond_measured(runtimes);
    };
    CHECK(claims("matrix_efficiency", 0.8, 0.8, "assumed").empty());
    CHECK(claims("matrix_efficiency", 0.8, 0.9, "assumed").size() == 1);
    CHECK(claims("matrix_efficiency", 0.8, 0.9, "paper").empty());
    CHECK(claims("inference_overhead", 40e-6, 40e-6, "assumed").empty());
    CHECK(claims("inference_overhead", 40e-6, 10e-6, "assumed").size() == 1);
    CHECK(claims("inference_overhead", 40e-6, 300e-6, "assumed").empty());
    // What the hint says lies where no fit that moves by less than the margin makes it a finding again.
    CHECK(claims("inference_overhead", 40e-6, 10e-6, "assumed")[0].hint.starts_with("assume 4e-05"));
    CHECK(claims("inference_overhead", 1.99 * 40e-6, 40e-6, "assumed").empty());
}

TEST_CASE("units that no power mode runs change nothing, and are told", "[hardware][check]") {
    json device = json::parse(file_text(data_dir() / "hardware_db" / "gpu" / "Jetson-Orin-Nano.json"));
    CHECK_FALSE(finding_at(findings_of(device), "/power_modes"));
    for (auto& engine : device["engines"])
        engine["count"] = 2 * engine["count"].get<double>();
    const auto findings = findings_of(device);
    const Finding* more = finding_at(findings, "/power_modes");
    REQUIRE(more);
    CHECK(more->message.find("no power mode runs all 16 units") != std::string::npos);
}

TEST_CASE("memory and nodes that no price names are said", "[hardware][check]") {
    json device = accelerator();
    device["dram"]["type"] = "LPDDR4X-4266 64b";
    device["process"] = {{"value", 7}, {"unit", "nm"}, {"source", "S1"}};
    CHECK(finding_at(findings_of(device), "/dram/type") == nullptr);
    CHECK(finding_at(findings_of(device), "/process") == nullptr);
    for (const char* const type : {"LPDDR9-9999 64b", "SRAM"}) {
        device["dram"]["type"] = type;
        const auto found = findings_of(device);
        const Finding* const finding = finding_at(found, "/dram/type");
        REQUIRE(finding != nullptr);
        CHECK(finding->severity == Severity::warning);
        CHECK(finding->message.find(type) != std::string::npos);
    }
    for (const double node : {2.0, 1000.0}) {
        device["process"]["value"] = node;
        CHECK(finding_at(findings_of(device), "/process") != nullptr);
    }
}
