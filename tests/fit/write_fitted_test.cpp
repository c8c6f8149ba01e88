#include "core/text_file.hpp"
#include "fit/parameters/calibrate.hpp"
#include "hardware/temporary_database.hpp"
#include "support/places.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

namespace {

constexpr const char* kDevice = R"({
  "id": "chip",
  "engines": [ {"name": "a {brace} and \"quote\""} ],
  "fitted": {
    "kernel_overhead": {"value": 3, "unit": "us", "source": "S2", "n": 4, "error": 0.1, "note": "old"},
    "dram_efficiency": {"value": 0.5, "unit": "1", "source": "S1"}
  },
  "notes": ["kept   as it is"],
  "sources": {
    "S1": {"kind": "datasheet", "cite": "sheet"},
    "S2": {"kind": "fitted", "cite": "an old fit"},
    "S3": {"kind": "fitted", "cite": "an older fit, whose numbers went with a device"},
    "S4": {"kind": "datasheet", "cite": "to be cited"}
  }
}
)";

} // namespace

TEST_CASE("fitted values replace those of a device and leave the rest", "[hardware][write_fitted]") {
    const std::string text =
        with_fitted(kDevice, "chip.json",
                    {{{"chip", "", "", Parameter::kernel_overhead}, 7.12345e-6, 9, 0.0777, ""},
                     {{"chip", "stack", "", Parameter::matrix_efficiency}, 0.5, 9, 0.08, "new"}},
                    "a fit", "2026-11-21");
    const json document = json::parse(text);
    const json& overhead = document["fitted"]["kernel_overhead"];
    CHECK(overhead["value"] == 7.123); // in the unit that stood there
    CHECK(overhead["unit"] == "us");
    CHECK(overhead["n"] == 9);
    CHECK(overhead["error"] == 0.078);
    CHECK_FALSE(overhead.contains("note"));
    CHECK(document["fitted"]["stack"]["matrix_efficiency"]["value"] == 0.5);
    CHECK(document["fitted"]["dram_efficiency"]["value"] == 0.5);
    const std::string source = overhead["source"];
    CHECK(document["sources"][source]["kind"] == "fitted");
    CHECK(document["sources"][source]["date"] == "2026-11-21");
    CHECK(document["sources"].contains("S1"));
    CHECK_FALSE(document["sources"].contains("S2")); // nothing rests on it any more
    CHECK_FALSE(document["sources"].contains("S3"));
    CHECK(document["sources"].contains("S4"));
    CHECK(text.find(R"([ {"name": "a {brace} and \"quote\""} ])") != std::string::npos);
    CHECK(text.find("kept   as it is") != std::string::npos);
}

TEST_CASE("fitted values of a stack keep its other generations", "[hardware][write_fitted]") {
    const std::string before = small_runtime("stack").dump(1);
    const std::string text =
        with_fitted(before, "stack.json",
                    {{{"", "stack", "acme-1", Parameter::kernel_overhead}, 5e-6, 9, 0.1, ""},
                     {{"", "stack", "", Parameter::matrix_efficiency}, 0.7, 9, 0.1, ""},
                     {{"", "stack", "acme-2", Parameter::dram_efficiency}, 0.6, 9, 0.1, ""},
                     {{"", "stack", "", Parameter::lookup_cycles}, 7, 9, 0.1, ""},
                     {{"", "stack", "acme-2", Parameter::lookup_cycles}, 8, 9, 0.1, ""}},
                    "a fit", "2026-11-21");
    const json lookup = json::parse(text)["kernels"]["lookup"]["cycles"];
    CHECK(lookup["value"] == 7);
    CHECK(lookup["by_generation"]["acme-2"]["value"] == 8);
    const json parameters = json::parse(text)["parameters"];
    CHECK(parameters["kernel_overhead"]["value"] == 2);
    CHECK(parameters["kernel_overhead"]["by_generation"]["acme-1"]["value"] == 5);
    CHECK(parameters["matrix_efficiency"]["value"] == 0.7);
    CHECK(parameters["dram_efficiency"]["by_generation"]["acme-2"]["value"] == 0.6);
}

TEST_CASE("what public facts say of a parameter outlives every fit", "[hardware][write_fitted]") {
    json runtime = small_runtime("stack");
    runtime["parameters"]["matrix_efficiency"] = {
        {"value", 0.6}, {"unit", "1"}, {"source", "S1"}, {"before", 0.97}};
    const std::string text = with_fitted(runtime.dump(1), "stack.json",
                                         {{{"", "stack", "", Parameter::matrix_efficiency}, 0.7, 9, 0.1, ""}},
                                         "a fit", "2026-11-21");
    const json entry = json::parse(text)["parameters"]["matrix_efficiency"];
    CHECK(entry["value"] == 0.7);
    CHECK(entry["before"] == 0.97);
}

TEST_CASE("a fit that says what stands there already changes nothing", "[hardware][write_fitted]") {
    const std::vector<FittedValue> values = {
        {{"chip", "", "", Parameter::kernel_overhead}, 7.12345e-6, 9, 0.0777, ""}};
    const std::string once = with_fitted(kDevice, "chip.json", values, "a fit", "2026-11-21");
    CHECK(with_fitted(once, "chip.json", values, "the next", "2026-11-22") == once);
    std::vector<FittedValue> others = values;
    others[0].n = 10;
    CHECK(with_fitted(once, "chip.json", others, "the next", "2026-11-22") != once);
    const std::vector<FittedMultiple> multiples = {{"gpu", "chip", 0.9, 40, 0.1}};
    const std::string priced =
        with_multiples(R"({"fitted": {}, "sources": {}})", "energy.json", multiples, "a fit", "2026-11-21");
    CHECK(with_multiples(priced, "energy.json", multiples, "the next", "2026-11-22") == priced);
    CHECK(with_multiples(priced, "energy.json", {{"gpu", "chip", 0.91, 40, 0.1}}, "the next", "2026-11-22") !=
          priced);
}

TEST_CASE("a file without a block gets one", "[hardware][write_fitted]") {
    for (const char* text : {"{}", "{\n  \"id\": \"chip\"\n}\n", R"({"id": "chip", "sources": {}})"}) {
        const json document = json::parse(with_fitted(
            text, "chip.json", {{{"chip", "", "", Parameter::matrix_efficiency}, 0.5, 9, 0.1, ""}}, "fit",
            "2026-11-21"));
        CHECK(document["fitted"]["matrix_efficiency"]["value"] == 0.5);
        CHECK(document["sources"].size() == 1);
    }
    CHECK_THROWS_AS(with_fitted("[1]", "chip.json", {}, "fit", "2026-11-21"), InputError);
    CHECK_THROWS_WITH(with_fitted("{", "chip.json", {}, "fit", "2026-11-21"), Catch::Contains("chip.json"));
}

TEST_CASE("fitted multiples replace those of the energy file", "[hardware][write_fitted]") {
    const std::string before = R"({"fitted": {"gpu": {"dram": {"value": 2, "unit": "1", "source": "S1"}}},
 "kept": 1, "sources": {"S1": {"kind": "fitted", "cite": "old"}}})";
    const json after = json::parse(
        with_multiples(before, "energy.json", {{"gpu", "chip", 0.81239, 40, 0.1017}}, "new", "2026-11-22"));
    CHECK(after["fitted"]["gpu"].size() == 1);
    CHECK(after["fitted"]["gpu"]["chip"]["value"] == 0.8124);
    CHECK(after["fitted"]["gpu"]["chip"]["n"] == 40);
    CHECK(after["kept"] == 1);
    REQUIRE(after["sources"].size() == 1); // nothing stands on the old one
    CHECK(after["sources"].begin().value()["cite"] == "new");
}

TEST_CASE("every source that a shipped file names stands behind something", "[hardware][database]") {
    std::size_t sources = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kDatabase)) {
        if (entry.path().extension() != ".json" || entry.path().filename() == "uncertainty.json")
            continue; // whose one source is that of the whole table
        INFO(entry.path().string());
        const std::string text = read_text_file(entry.path());
        const json named = json::parse(text).value("sources", json::object());
        for (const auto& [key, source] : named.items()) {
            ++sources;
            CAPTURE(key);
            const std::string quoted = '"' + key + '"';
            CHECK(text.find(quoted) != text.rfind(quoted)); // where it is described, and where it is cited
        }
    }
    CHECK(sources > 1000);
}
