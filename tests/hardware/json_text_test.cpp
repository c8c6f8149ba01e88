// The quick reader must agree with nlohmann wherever it answers.

#include "hardware/json_document.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

using namespace archsim;
using nlohmann::json;

namespace {

/// Equal to nlohmann's document down to the types of numbers, or no answer.
void require_agreement(const std::string& text) {
    const auto plain = parse_plain_json(text);
    if (!plain)
        return;
    INFO(text);
    const json standard = json::parse(text, nullptr, false);
    REQUIRE_FALSE(standard.is_discarded());
    REQUIRE(plain->root.copy() == standard);
    REQUIRE(plain->root.dump() == standard.dump());
    REQUIRE(document_of(standard)->root.dump() == standard.dump());
}

} // namespace

TEST_CASE("every file of the database is read, and as nlohmann reads it", "[hardware][json]") {
    std::size_t files = 0;
    const auto root = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".json")
            continue;
        INFO(entry.path());
        const std::string text = archsim::test::read(entry.path());
        CHECK(parse_plain_json(text).has_value());
        require_agreement(text);
        ++files;
    }
    CHECK(files > 180);
}

TEST_CASE("what is not plain JSON is left to nlohmann", "[hardware][json]") {
    for (const char* text : {"",
                             " ",
                             "{",
                             "}",
                             "{]",
                             R"({"a":})",
                             R"({"a" 1})",
                             R"({"a":1,})",
                             "[1,]",
                             "[1 2]",
                             "01",
                             "1.",
                             ".5",
                             "+1",
                             "-",
                             "1e",
                             "1e999",
                             "-1e999",
                             "tru",
                             "nulll",
                             "{} {}",
                             "\"a",
                             "\"\\q\"",
                             "\"\\u0041\"",
                             "\"a\nb\"",
                             "\"\xc3\xa9\"",
                             "\xef\xbb\xbf{}",
                             "NaN",
                             "[1]]",
                             "{'a':1}",
                             "// no\n1"})
        CHECK_FALSE(parse_plain_json(text).has_value());
    CHECK_FALSE(parse_plain_json(std::string(1000, '[')).has_value());
    for (const char* text :
         {"0", "-0", "-0.0", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
          "-9223372036854775809", "1e3", "1E-3", "1.5e+2", "0.1", "123456789.123456789", "true", "null",
          R"("\"\\\/\b\f\n\r\t")", R"({"a": 1, "b": [2, {"c": "d"}], "a": 3})", " [ ] ", "{ }"}) {
        CHECK(parse_plain_json(text).has_value());
        require_agreement(text);
    }
}

TEST_CASE("members are found, in order, and the last of equal keys counts", "[hardware][json]") {
    std::string text = "{";
    for (int i = 0; i < 40; ++i) // more than are looked through one after the other
        text += "\"k" + std::to_string(i * 7 % 40) + "\": " + std::to_string(i * 7 % 40) + ", ";
    text += R"("k3": "three", "none": null, "list": [1, {"a": true}]})";
    const auto document = parse_plain_json(text);
    REQUIRE(document);
    const JsonValue& root = document->root;
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

TEST_CASE("what nlohmann reads and the quick reader does not is the same document", "[hardware][json]") {
    std::vector<Finding> findings;
    const auto document =
        parse_document_text(R"({"b": "\u00e9", "a": [-1, 2.5, 3, null, {}]})", "f", findings);
    REQUIRE(document);
    CHECK(document->root.text_at("b") == "\xc3\xa9");
    CHECK(document->root.dump() == R"({"a":[-1,2.5,3,null,{}],"b":"é"})");
    CHECK(findings.empty());
    const std::string deep = R"({"a": )" + std::string(5000, '[') + std::string(5000, ']') + "}";
    CHECK_FALSE(parse_document_text(deep, "f", findings));
    CHECK(findings.size() == 1);
    CHECK_FALSE(parse_document_text("[1]", "f", findings));
    CHECK(findings.size() == 2);
}

TEST_CASE("damaged files never read differently", "[hardware][json]") {
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
