#include "answers/hardware/hardware_list.hpp"

#include "core/json_document.hpp"
#include "hardware/schema_check.hpp"
#include "hardware/temporary_database.hpp"
#include "support/places.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

namespace {} // namespace

TEST_CASE("numbers are counted by kind of source", "[hardware][report]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    const HardwareDatabase database(files.root());
    const SourceCounts counts = count_sources(database.device_facts("Acme-1"));
    // Two counts and three rates of the engines carry the engines' derived source.
    CHECK(counts[SourceKind::derived] == 5);
    CHECK(counts[SourceKind::fitted] == 1);
    CHECK(counts[SourceKind::assumed] == 0);
    CHECK(counts.total() == 21);
}

TEST_CASE("the list as JSON has stable keys and null for unknown", "[hardware][report]") {
    TemporaryDatabase files;
    auto device = small_device("Acme-1");
    device["aliases"] = {"Rocket"};
    files.add_device(device);
    files.write("gpu/Broken.json", "{");
    files.write("deployments.json",
                R"({"deployments": [{"id": "box", "title": "Box", "hardware": ["Acme-1@25W"]}]})");
    const HardwareDatabase database(files.root());
    const json list = json::parse(to_json(list_hardware(database)));
    CHECK(list["schema"] == "archsim.list_hardware_mappers/1");
    REQUIRE(list["hardware"].size() == 1);
    const json& row = list["hardware"][0];
    CHECK(row["id"] == "Acme-1");
    CHECK(row["family"] == "gpu");
    CHECK(row["aliases"] == json::array({"Rocket"}));
    CHECK(row["power_modes"] == json::array({"50W", "25W"}));
    CHECK(row["runtimes"] == json::array({"stack"}));
    CHECK(row["peak_matrix_ops_per_s"]["int8"] == 20e12);
    CHECK(row["list_price"].is_null());
    CHECK(list["findings"].size() == 1);
    const HardwareList box = list_hardware(database, {std::nullopt, "box"});
    REQUIRE(box.rows.size() == 1);
    CHECK(box.rows[0].power_mode == "25W");
    CHECK(list_hardware(database, {Family("cpu"), {}}).rows.empty());
}

TEST_CASE("a device sheet lists every number with its source", "[hardware][report]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    const HardwareDatabase database(files.root());
    const DeviceSheet sheet = device_sheet(database, "acme-1@25W");
    const std::string text = render(describe(sheet), Format::text);
    CHECK_THAT(text, Catch::Contains("dram / bandwidth") && Catch::Contains("Acme data sheet"));
    CHECK_THAT(text, Catch::Contains("25W (chosen)"));
    const json document = json::parse(to_json(sheet));
    CHECK(document["hardware"][0]["facts"].size() == 21);
    CHECK(document["hardware"][0]["power_mode_details"][1]["limit_w"].is_null());
}

TEST_CASE("a stack's sheet says what it serves, costs and cannot run", "[hardware][report]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    auto other = small_device("Acme-2");
    other["runtimes"] = {"else"};
    other["default_runtime"] = "else";
    files.add_device(other);
    auto stack = small_runtime("stack");
    stack["compile_base"] = {{"value", 2}, {"unit", "s"}, {"source", "S1"}};
    stack["compile_per_operator"] = {{"value", 10}, {"unit", "ms"}, {"source", "S1"}};
    files.add_runtime(stack);
    const RuntimeSheet sheet = runtime_sheet(HardwareDatabase(files.root()), "stack");
    CHECK(sheet.devices == std::vector<std::string>{"Acme-1"});
    CHECK(sheet.default_of == sheet.devices);
    RenderOptions wide;
    wide.width = 300;
    const std::string text = render(describe(sheet), Format::text, wide);
    CHECK_THAT(text, Catch::Contains("parameters / kernel_overhead / by_generation / acme-1") &&
                         Catch::Contains("Einsum") && Catch::Contains("2.00 s + 0.0100 s per operator") &&
                         Catch::Contains("host processor"));
    const json document = json::parse(to_json(sheet));
    CHECK(document["runtimes"][0]["compile_per_operator_s"] == 0.01);
    CHECK(document["runtimes"][0]["facts"].size() == sheet.facts.size());
    CHECK(count_sources(sheet.facts)[SourceKind::paper] == 1);
}

TEST_CASE("the shipped database is sound", "[hardware][database]") {
    const HardwareCheck check = check_database(kDatabase);
    for (const Finding& finding : check.findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(check.findings.empty());
    CHECK(check.devices >= 138);
    CHECK(check.runtimes >= 23);
}

TEST_CASE("every shipped file names the schema that it fits", "[hardware][database]") {
    std::vector<Finding> findings;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kDatabase)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".json" || name.ends_with("schema.json"))
            continue;
        INFO(name);
        const auto document = parse_json_file(entry.path().string(), findings);
        REQUIRE(document);
        REQUIRE(document->contains("$schema"));
        ++files;
        // What extends another file fits the schema once merged with it: check_database holds it to that.
        if (document->contains("extends"))
            continue;
        CHECK(document->contains("peaks") ==
              document->contains("engines")); // what a maker states is held to rates
        const auto schema = entry.path().parent_path() / (*document)["$schema"].get<std::string>();
        for (const Finding& finding : SchemaCheck(schema.string(), findings).validate(*document, name))
            findings.push_back(finding);
    }
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(findings.empty());
    CHECK(files >= 180);
}

TEST_CASE("every shipped device names stacks that serve it, and resolves by alias", "[hardware][database]") {
    const HardwareDatabase database(kDatabase);
    std::vector<Finding> findings;
    for (const auto& device : database.all_devices(findings)) {
        INFO(device->id);
        CHECK(database.runtime_for(*device) != nullptr);
        for (const std::string& name : device->runtimes)
            CHECK(database.runtime_for(*device, name)->serves(*device));
        for (const std::string& alias : device->aliases)
            CHECK(database.device(alias).device->id == device->id);
        for (const PowerMode& mode : device->power_modes)
            CHECK(database.device(device->id + "@" + mode.name).power_mode == mode.name);
    }
}

TEST_CASE("a stack's name finds it on each kind of processor that it runs on", "[hardware][database]") {
    const HardwareDatabase database(kDatabase);
    const auto stack = [&](const char* device, const char* name) {
        return database.runtime_for(*database.device(device).device, name)->id;
    };
    CHECK(stack("TPU-v6e", "xla") == "xla");
    CHECK(stack("H100", "xla") == "xla-gpu");
    CHECK(stack("MI300X", "jax") == "xla-gpu");
    CHECK(stack("H100", "vllm") == "vllm");
    CHECK(stack("TPU-v6e", "vllm") == "vllm-tpu");
    CHECK_THROWS_WITH(stack("Hailo-8", "vllm"), Catch::Contains("does not run on Hailo-8"));
}
