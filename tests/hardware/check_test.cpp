#include "archsim/hardware/database.hpp"

#include "hardware/temporary_database.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

namespace {

constexpr const char* kOpenSchema =
    R"({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})";

/// Findings of a database that holds one device and one stack.
std::vector<Finding> check(const json& device) {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    files.add_device(device);
    return check_hardware(files.root());
}

const Finding* at(const std::vector<Finding>& findings, const std::string& where) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.where == where; });
    return found == findings.end() ? nullptr : &*found;
}

/// The single finding expected for a device, with what it must say.
void require_one(const json& device, FindingKind kind, const std::string& where, const std::string& says,
                 const std::string& hint) {
    const auto findings = check(device);
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == kind);
    CHECK(findings[0].where == where);
    CHECK_THAT(findings[0].file, Catch::EndsWith("Acme-1.json"));
    CHECK_THAT(findings[0].message, Catch::Contains(says));
    CHECK_THAT(findings[0].hint, Catch::Contains(hint));
}

} // namespace

TEST_CASE("a sound device has no findings", "[hardware][check]") {
    for (const Finding& finding : check(small_device("Acme-1")))
        UNSCOPED_INFO(to_string(finding));
    CHECK(check(small_device("Acme-1")).empty());
}

TEST_CASE("each mistake is one finding with pointer, value, unit and hint", "[hardware][check]") {
    json device = small_device("Acme-1");

    SECTION("wrong unit") {
        device["dram"]["bandwidth"]["unit"] = "GHz";
        require_one(device, FindingKind::wrong_unit, "/dram/bandwidth/unit", "200 GHz", "GB/s");
    }
    SECTION("unknown unit") {
        device["power"]["tdp"]["unit"] = "Watt";
        require_one(device, FindingKind::wrong_unit, "/power/tdp/unit", "50 Watt", "W, mW, kW");
    }
    SECTION("no unit") {
        device["power"]["tdp"].erase("unit");
        require_one(device, FindingKind::missing_field, "/power/tdp/unit", "50 has no unit", "W, mW, kW");
    }
    SECTION("negative") {
        device["power"]["idle"]["value"] = -5;
        require_one(device, FindingKind::out_of_range, "/power/idle/value", "-5 mW is negative",
                    "at least 0");
    }
    SECTION("out of range") {
        device["dram"]["achievable_fraction"]["value"] = 90;
        require_one(device, FindingKind::out_of_range, "/dram/achievable_fraction/value", "0 to 1", "unit");
    }
    SECTION("missing field") {
        device["dram"].erase("bandwidth");
        require_one(device, FindingKind::missing_field, "/dram", "\"bandwidth\" is missing", "add");
    }
    SECTION("missing id") {
        device["engines"] = json::array();
        device.erase("peaks");
        require_one(device, FindingKind::missing_field, "/", "\"engines\" is missing", "engine");
    }
    SECTION("a number where a quantity belongs") {
        device["power"]["tdp"] = 50;
        require_one(device, FindingKind::malformed_file, "/power/tdp", "50 is not a quantity", "unit");
    }
    SECTION("sparse peak in a dense field") {
        device["peaks"]["matrix"]["fp16"]["value"] = 20;
        require_one(device, FindingKind::inconsistent, "/peaks/matrix/fp16/value", "sparse", "dense");
    }
    SECTION("peak that is not the product") {
        device["peaks"]["matrix"]["fp16"]["value"] = 13;
        require_one(device, FindingKind::inconsistent, "/peaks/matrix/fp16/value", "= 10 (+30.0 %)", "clock");
    }
    SECTION("peak of a format no engine has") {
        device["peaks"]["matrix"]["fp8"] = device["peaks"]["matrix"]["fp16"];
        require_one(device, FindingKind::inconsistent, "/peaks/matrix/fp8/value", "no matrix engine", "rate");
    }
    SECTION("unknown key, nearest known") {
        device["dram"]["bandwith"] = device["dram"]["bandwidth"];
        require_one(device, FindingKind::unknown_key, "/dram/bandwith", "not a known field",
                    "\"bandwidth\" meant");
    }
    SECTION("unknown format") {
        device["engines"][0]["ops_per_clock"]["fp17"] = 1;
        require_one(device, FindingKind::unknown_key, "/engines/0/ops_per_clock/fp17", "numeric format",
                    "fp16");
    }
    SECTION("missing source") {
        device["power"]["tdp"].erase("source");
        require_one(device, FindingKind::missing_source, "/power/tdp", "50 W names no source", "source");
    }
    SECTION("source that is not listed") {
        device["power"]["tdp"]["source"] = "S9";
        require_one(device, FindingKind::missing_source, "/power/tdp/source", "\"S9\"", "sources");
    }
    SECTION("unknown kind of source") {
        device["sources"]["S1"]["kind"] = "rumour";
        require_one(device, FindingKind::malformed_file, "/sources/S1/kind", "rumour", "datasheet");
    }
    SECTION("fitted without n and error") {
        device["dram"]["achievable_fraction"].erase("n");
        require_one(device, FindingKind::missing_field, "/dram/achievable_fraction", "fitted", "\"n\"");
    }
    SECTION("idle above the limit") {
        device["power"]["idle"]["value"] = 60000;
        const auto findings = check(device);
        REQUIRE(at(findings, "/power/idle") != nullptr);
        CHECK_THAT(at(findings, "/power/idle")->message, Catch::Contains("60 W exceeds tdp 50 W"));
    }
    SECTION("power mode that is not listed") {
        device["default_power_mode"] = "30W";
        require_one(device, FindingKind::unknown_name, "/default_power_mode", "30W", "power mode");
    }
    SECTION("stack that does not exist") {
        device["runtimes"] = {"stack", "stakc"};
        require_one(device, FindingKind::unknown_name, "/runtimes/1", "stakc", "stack");
    }
    SECTION("field of the family") {
        device["gpu"].erase("sm_count");
        require_one(device, FindingKind::missing_field, "/gpu/sm_count", "GPU", "add");
    }
    SECTION("value of another type") {
        device["aliases"] = "just one";
        require_one(device, FindingKind::malformed_file, "/aliases", "array", "schema");
    }
}

TEST_CASE("all mistakes of a file are found at once", "[hardware][check]") {
    json device = small_device("Acme-1");
    device["dram"]["bandwidth"]["unit"] = "GHz";      // cannot be read
    device["power"]["tdp"]["value"] = -1;             // negative
    device["power"].erase("idle");                    // fine
    device["power"]["idel"] = device["power"]["tdp"]; // unknown key
    device["peaks"]["matrix"]["fp16"]["value"] = 20;  // sparse
    device["memory"][0]["capacity"]["value"] = 9e6;   // above the DRAM's
    device["gpu"].erase("sm_count");                  // a GPU needs it
    device["runtimes"] = {"stack", "stakc"};          // no such stack
    device["aliases"] = {"Rocket", "Twin"};           // the second is another device
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    files.add_device(device);
    json twin = small_device("Twin");
    twin["name"] = "The twin";
    files.add_device(twin);
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    for (const char* where :
         {"/dram/bandwidth/unit", "/power/tdp/value", "/power/idel", "/peaks/matrix/fp16/value",
          "/memory/0/capacity", "/gpu/sm_count", "/runtimes/1", "/aliases/1"}) {
        INFO(where);
        REQUIRE(at(findings, where) != nullptr);
        CHECK_THAT(at(findings, where)->file, Catch::EndsWith("Acme-1.json"));
    }
    CHECK(findings.size() == 8);
    CHECK(HardwareDatabase(files.root()).device("Twin").device != nullptr);
}

TEST_CASE("a mistake does not bring others with it", "[hardware][check]") {
    json device = small_device("Acme-1");
    SECTION("rate that cannot be read: no judgement on the peaks") {
        device["engines"][0]["ops_per_clock"]["fp16"] = -1000;
        require_one(device, FindingKind::out_of_range, "/engines/0/ops_per_clock/fp16", "negative", "0");
    }
    SECTION("engine without a clock") {
        device["engines"][0].erase("clock");
        require_one(device, FindingKind::missing_field, "/engines/0", "clock", "add");
    }
    SECTION("no engines") {
        device.erase("engines");
        require_one(device, FindingKind::missing_field, "/", "engines", "engine");
    }
    SECTION("family that does not exist") {
        device["family"] = "gpuu";
        require_one(device, FindingKind::malformed_file, "/family", "gpuu", "gpu");
    }
    SECTION("no family") {
        device.erase("family");
        require_one(device, FindingKind::missing_field, "/", "family", "add");
    }
    SECTION("no id") {
        device.erase("id");
        TemporaryDatabase files;
        files.write("schema.json", kOpenSchema);
        files.write("runtime_schema.json", kOpenSchema);
        files.add_runtime(small_runtime("stack"));
        files.write("gpu/Acme-1.json", device.dump());
        const auto findings = check_hardware(files.root());
        REQUIRE(findings.size() == 1);
        CHECK_THAT(findings[0].message, Catch::Contains("\"id\" is missing"));
    }
}

TEST_CASE("what a device with an unusable base states itself is checked", "[hardware][check]") {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_device(small_device("Acme-1"));
    files.add_runtime(small_runtime("stack"));
    files.write("gpu/Loop.json", R"({"id": "Loop", "extends": "Loop", "default_power_mode": "50W",
        "aliases": ["acme-1"], "powr": {}, "power": {"tdp": {"value": 5, "unit": "kg", "source": "Acme-1:S1"}}})");
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    for (const char* where : {"/extends", "/power/tdp/unit", "/powr", "/aliases/0"})
        CHECK(at(findings, where) != nullptr);
    CHECK(findings.size() == 4);
    CHECK(HardwareDatabase(files.root()).device("Acme-1").device->id == "Acme-1");
}

TEST_CASE("an overlay's alias may not hide a device of the database", "[hardware][check]") {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    json known = small_device("Zeta");
    known["aliases"] = {"Rocket"};
    files.add_device(known);
    json own = small_device("Alpha");
    own["name"] = "Alpha board";
    own["aliases"] = {"rocket"};
    const std::string file = files.write("mine/Alpha.json", own.dump());
    const auto findings = check_hardware(file);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == FindingKind::duplicate);
    CHECK(findings[0].where == "/aliases/0");
    CHECK_THAT(findings[0].message, Catch::Contains("Zeta"));
}

TEST_CASE("names across files", "[hardware][check]") {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    json first = small_device("Acme-1"), second = small_device("Acme-2");
    first["name"] = "One";
    second["name"] = "Two";
    first["aliases"] = {"Rocket"};
    second["aliases"] = {"rocket"};
    files.add_device(first);
    files.add_device(second);
    files.write("gpu/A.json", R"({"id": "A", "extends": "B"})");
    files.write("gpu/B.json", R"({"id": "B", "extends": "A"})");
    files.write("deployments.json",
                R"({"deployments": [{"id": "d", "hardware": ["Acme-1@25W", "Acme-9", "Acme-1@1W"]}]})");
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    const Finding* alias = at(findings, "/aliases/0");
    REQUIRE(alias != nullptr);
    CHECK(alias->kind == FindingKind::duplicate);
    const Finding* circle = at(findings, "/extends");
    REQUIRE(circle != nullptr);
    CHECK_THAT(circle->message, Catch::Contains("circle"));
    CHECK(at(findings, "/deployments/0/hardware/0") == nullptr);
    CHECK(at(findings, "/deployments/0/hardware/1") != nullptr);
    CHECK(at(findings, "/deployments/0/hardware/2") != nullptr);
    CHECK(findings.size() == 5);
    // The sound ones stay usable.
    CHECK(HardwareDatabase(files.root()).device("Acme-2").device != nullptr);
}

TEST_CASE("the schema adds what the reader does not ask for, once", "[hardware][check]") {
    TemporaryDatabase files;
    files.write("schema.json", R"({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
      "required": ["vendor"], "properties": {"year": {"type": "integer", "minimum": 2000},
      "power": {"properties": {"tdp": {"$ref": "#/definitions/quantity"}}}},
      "definitions": {"quantity": {"type": "object", "required": ["unit"]}}})");
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    json device = small_device("Acme-1");
    device.erase("vendor");
    device["year"] = 1999;
    device["power"]["tdp"].erase("unit");
    files.add_device(device);
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(findings.size() == 3);
    REQUIRE(at(findings, "/year") != nullptr);
    CHECK_THAT(at(findings, "/year")->message, Catch::Contains("2000"));
    REQUIRE(at(findings, "/") != nullptr);
    CHECK_THAT(at(findings, "/")->message, Catch::Contains("vendor"));
    CHECK(at(findings, "/power/tdp/unit") != nullptr);
}

TEST_CASE("an unknown key that reader and schema both see is one finding", "[hardware][check]") {
    json schema = json::parse(kOpenSchema);
    json device = small_device("Acme-1");
    for (const auto& [key, value] : device.items())
        schema["properties"][key] = json::object();
    schema["additionalProperties"] = false;
    device["powr"] = json::object();
    device["comment"] = "known to the reader only";
    TemporaryDatabase files;
    files.write("schema.json", schema.dump());
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    files.add_device(device);
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(findings.size() == 2);
    REQUIRE(at(findings, "/powr") != nullptr);
    CHECK_THAT(at(findings, "/powr")->hint, Catch::Contains("\"power\" meant"));
    REQUIRE(at(findings, "/comment") != nullptr);
    CHECK(at(findings, "/comment")->kind == FindingKind::unknown_key);
}

TEST_CASE("nobody is assumed to reach more of the peak than was measured", "[hardware][check]") {
    const auto accelerator = [](const std::string& id, double share, const char* source) {
        json runtime = small_runtime(id);
        runtime["families"] = {"npu"};
        runtime["sources"]["F1"] = {{"kind", "measured"}, {"cite", "a run"}};
        runtime["parameters"]["matrix_efficiency"] = {{"value", share}, {"unit", "1"}, {"source", source}};
        return runtime;
    };
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack")); // 0.8 assumed, of a GPU
    files.add_runtime(accelerator("measured", 0.6, "F1"));
    files.add_runtime(accelerator("modest", 0.6, "S1"));
    files.add_runtime(accelerator("bold", 0.7, "S1"));
    files.add_device(small_device("Acme-1"));
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == FindingKind::inconsistent);
    CHECK(findings[0].where == "/parameters/matrix_efficiency");
    CHECK_THAT(findings[0].file, Catch::EndsWith("bold.json"));
    CHECK_THAT(findings[0].message, Catch::Contains("0.7") && Catch::Contains("0.6"));
}

TEST_CASE("a file inside a database and an overlay are checked alone", "[hardware][check]") {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    const std::string good = files.add_device(small_device("Good"));
    json bad = small_device("Bad");
    bad["power"]["tdp"]["unit"] = "V";
    const std::string bad_file = files.add_device(bad);
    CHECK(check_hardware(good).empty());
    CHECK(check_hardware(bad_file).size() == 1);
}

TEST_CASE("every parameter's unit is known", "[hardware]") {
    for (std::size_t i = 0; i < kParameterCount; ++i) {
        const ParameterInfo& info = info_of(static_cast<Parameter>(i));
        INFO(info.name << " " << info.unit);
        CHECK(parse_parameter(info.name) == static_cast<Parameter>(i));
        CHECK(info.low < info.high);
        CHECK_FALSE(info.doc.empty());
    }
}

TEST_CASE("rows of percentiles are checked: order, family, source, stack", "[hardware][check][percentiles]") {
    TemporaryDatabase files;
    files.write("schema.json", kOpenSchema);
    files.write("runtime_schema.json", kOpenSchema);
    files.write("percentiles_schema.json", kOpenSchema);
    files.add_runtime(small_runtime("stack"));
    json row = {{"stack", "stack"},
                {"family", "gpu"},
                {"hardware", "One"},
                {"network", "n"},
                {"ms", {{"p50", 1.0}, {"p90", 1.1}, {"p99", 1.2}, {"p999", 1.3}}},
                {"source", "S"},
                {"run", "log"}};
    const auto with = [&](const std::string& pointer, const json& value) {
        json changed = row;
        if (value.is_null())
            changed.erase(pointer.substr(1));
        else
            changed[json::json_pointer(pointer)] = value;
        return changed;
    };
    const json rows = {row,
                       with("/ms/p99", 1.05),
                       with("/family", "fpga"),
                       with("/source", json()),
                       with("/source", "T"),
                       with("/stack", "stak"),
                       with("/ms/p95", 1.15),
                       with("/ms", json())};
    files.write("percentiles.json",
                json{{"rows", rows}, {"sources", {{"S", {{"kind", "measured"}, {"cite", "a log"}}}}}}.dump());
    const auto findings = check_hardware(files.root());
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    const std::vector<std::pair<std::string, FindingKind>> expected = {
        {"/rows/1/ms/p99", FindingKind::inconsistent}, {"/rows/2/family", FindingKind::unknown_name},
        {"/rows/3", FindingKind::missing_source},      {"/rows/6/ms/p95", FindingKind::unknown_key},
        {"/rows/7", FindingKind::missing_field},       {"/rows", FindingKind::unknown_name}};
    for (const auto& [where, kind] : expected) {
        CAPTURE(where);
        REQUIRE(at(findings, where) != nullptr);
        CHECK(at(findings, where)->kind == kind);
    }
    CHECK(at(findings, "/rows/4/source") != nullptr);
    CHECK(std::none_of(findings.begin(), findings.end(),
                       [](const Finding& f) { return f.where.starts_with("/rows/0"); }));
    CHECK_THAT(at(findings, "/rows")->hint, Catch::Contains("stack"));
}

TEST_CASE("what is sold for servers states a price per hour, or why it has none", "[hardware][check]") {
    json device = small_device("Acme-1");
    device["sold_for"] = "servers";
    require_one(device, FindingKind::missing_field, "/price", "no price per hour", "not_rented");
    device["price"] = json::parse(R"({"not_rented": {"reason": "nobody offers it", "date": "2026-11"}})");
    CHECK(check(device).empty());
    device["price"]["cloud"] = json::parse(
        R"({"value": 1, "unit": "USD/h", "source": "S1", "date": "2026-11", "market": "marketplace"})");
    require_one(device, FindingKind::inconsistent, "/price/not_rented", "a price per hour, and a reason",
                "remove one");
    device["price"].erase("not_rented");
    CHECK(check(device).empty());
    device["price"]["cloud"].erase("market");
    require_one(device, FindingKind::missing_field, "/price/cloud/market", "market alone", "hyperscaler");
}

TEST_CASE("a device has a list price, or a reason why it has none", "[hardware][check]") {
    json device = small_device("Acme-1");
    device["price"] = json::parse(R"({"not_sold": {"reason": "a research chip", "date": "2026-11"}})");
    CHECK(check(device).empty());
    device["price"]["list"] =
        json::parse(R"({"value": 1, "unit": "USD", "source": "S1", "date": "2026-11"})");
    require_one(device, FindingKind::inconsistent, "/price/not_sold", "a list price, and a reason",
                "remove one");
    // Every device of the database says one of the two.
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    for (const std::string& id : database.device_ids()) {
        INFO(id);
        const auto& price = database.device(id).device->list_price;
        REQUIRE(price);
        CHECK((price->amount.known() || !price->amount.note.empty()));
        CHECK(price->date.size() >= 4);
    }
}
