// The reader must agree with nlohmann on what is JSON and on what it says.

#include "core/json_document.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

using namespace archsim;
using nlohmann::json;

namespace {

/// Equal to nlohmann's document down to the types of numbers, or no document of either.
void require_agreement(const std::string& text) {
    const json standard = json::parse(text, nullptr, false);
    INFO(text);
    try {
        const JsonDocument document = read_json(text);
        REQUIRE_FALSE(standard.is_discarded());
        REQUIRE(document.root.copy() == standard);
        REQUIRE(document.root.dump() == standard.dump());
    } catch (const JsonFault&) {
        REQUIRE(standard.is_discarded());
    }
}

std::string fault_of(const std::string& text) {
    try {
        read_json(text);
    } catch (const JsonFault& fault) {
        return fault.what();
    }
    return "none";
}

} // namespace

TEST_CASE("every file of the database and of the catalogue is read as nlohmann reads it", "[core][json]") {
    std::size_t files = 0;
    for (const char* folder : {"hardware_db", "models/catalogue"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::filesystem::path(ARCHSIM_SOURCE_DIR) / folder)) {
            if (entry.path().extension() != ".json")
                continue;
            INFO(entry.path());
            const std::string text = archsim::test::read(entry.path());
            CHECK(fault_of(text) == "none");
            require_agreement(text);
            ++files;
        }
    CHECK(files > 180);
}

TEST_CASE("what is no JSON is refused with its place, and what is JSON is read", "[core][json]") {
    for (const char* text :
         {"",     " ",     "{",       "}",        "{]",          R"({"a":})", R"({"a" 1})", R"({"a":1,})",
          "[1,]", "[1 2]", "01",      "1.",       ".5",          "+1",        "-",          "1e",
          "tru",  "nulll", "{} {}",   "\"a",      "\"\\q\"",     "\"a\nb\"",  "\"\xc3\"",   "\"\xff\"",
          "NaN",  "[1]]",  "{'a':1}", "// no\n1", "\"\\ud800\"", "[1e999]",   "[-1e999]"}) {
        CHECK(fault_of(text) != "none");
        require_agreement(text);
    }
    CHECK(fault_of(std::string("[1\0]", 4)) == "no valid JSON at line 1, column 3");
    CHECK(fault_of("{\n  \"a\": 1,\n  \"b\" 2\n}") == "no valid JSON at line 3, column 7");
    CHECK(fault_of("[1,\n 1e999]") == "no valid JSON: the number at line 2, column 2 is too large");
    for (const char* text : {"0",
                             "-0",
                             "-0.0",
                             "18446744073709551615",
                             "18446744073709551616",
                             "-9223372036854775808",
                             "-9223372036854775809",
                             "1e3",
                             "1E-3",
                             "1.5e+2",
                             "0.1",
                             "123456789.123456789",
                             "true",
                             "null",
                             "1e-400",
                             R"("\"\\\/\b\f\n\r\t\u0041\ud83d\ude00")",
                             R"({"a": 1, "b": [2, {"c": "d"}], "a": 3})",
                             " [ ] ",
                             "{ }",
                             "\"\xc3\xa9\"",
                             "\xef\xbb\xbf{\"a\": 1}"}) {
        CHECK(fault_of(text) == "none");
        require_agreement(text);
    }
}

TEST_CASE("limits hold", "[core][json]") {
    const auto nested = [](int levels) {
        return std::string(static_cast<std::size_t>(levels), '[') +
               std::string(static_cast<std::size_t>(levels), ']');
    };
    CHECK(fault_of(nested(64)) == "none");
    CHECK(fault_of(nested(65)) == "more than 64 objects and arrays inside each other at line 1, column 66");
    CHECK(fault_of(nested(1'000'000)) == fault_of(nested(65)));
    CHECK(fault_of(std::string(1'000'000, '[')) == fault_of(nested(65)));
}

TEST_CASE("members are handed over until nobody wants more", "[core][json]") {
    std::string seen;
    read_members(R"({"b": [1, {"c": 2}], "a": "x", "d": 1, "broken)",
                 [&](std::string_view key, const JsonValue& value) {
                     seen += std::string(key) + value.dump();
                     return key != "d";
                 });
    CHECK(seen == R"(b[1,{"c":2}]a"x"d1)");
    CHECK_THROWS_AS(read_members(R"({"a": 1, )", [](auto, const auto&) { return true; }), JsonFault);
}

TEST_CASE("members are found, in order, and the last of equal keys counts", "[core][json]") {
    std::string text = "{";
    for (int i = 0; i < 40; ++i) // more than are looked through one after the other
        text += "\"k" + std::to_string(i * 7 % 40) + "\": " + std::to_string(i * 7 % 40) + ", ";
    text += R"("k3": "three", "none": null, "list": [1, {"a": true}]})";
    const JsonDocument document = read_json(text);
    const JsonValue& root = document.root;
    CHECK(root.members().size() == 42);
    for (int i = 0; i < 40; ++i) {
        const JsonValue* const found = root.find("k" + std::to_string(i));
        REQUIRE(found != nullptr);
        CHECK((i == 3 ? found->text() == "three" : found->number() == i));
    }
    CHECK(root.find("k") == nullptr);
    CHECK(root.find("none")->is_null());
    CHECK(root.text_at("k3") == "three");
    CHECK(root.text_at("k4").empty());
    const JsonValue& list = *root.find("list");
    REQUIRE(list.items().size() == 2);
    CHECK(list.items()[1].find("a")->boolean());
    CHECK(list.members().empty());
    CHECK(list.find("a") == nullptr);
}

TEST_CASE("a file that holds no object is a finding", "[core][json]") {
    std::vector<Finding> findings;
    CHECK_FALSE(parse_document_text("[1]", "f", findings));
    REQUIRE(findings.size() == 1);
    CHECK(to_string(findings[0]) == "f: the file does not hold a JSON object; start it with {");
}

TEST_CASE("damaged files never read differently", "[core][json]") {
    const std::string text = archsim::test::read(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db" /
                                                 "tpu" / "TPU-v4.json");
    std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same damage every time
    constexpr std::string_view kBytes = "{}[]\",:\\ \n0123456789-+.eEtfnu\x01\x7f\xc3";
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = text;
        for (int change = 0; change < 2; ++change)
            damaged[random() % damaged.size()] = kBytes[random() % kBytes.size()];
        require_agreement(damaged);
    }
}
