// What is asked of a server: each field a row that reads what it prints.

#include "archsim/core/finding.hpp"
#include "fields/serving_fields.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace archsim;

namespace {

/// A text that each field takes, and that is not what it has without one.
std::string another(const ServingField& field) {
    if (!field.choices.empty())
        return field.choices.back();
    if (field.kind == FieldKind::truth)
        return "true";
    if (field.key == "length_range")
        return "0.25,2";
    if (field.key == "request_time")
        return "0.25s";
    if (field.key == "prompt_parallel")
        return "tp=2,pp=1,dp=3,ep=1@H200";
    if (field.key == "pue")
        return "1.5";
    return field.kind == FieldKind::whole ? "7" : "0.5";
}

} // namespace

TEST_CASE("a field of a server prints what it reads", "[ask][serving]") {
    for (const ServingField& field : serving_fields()) {
        INFO(field.key);
        REQUIRE(field.print);
        CHECK(field.print(ServingRequest{}).empty());
        if (field.usual) // what it says of a new request asks for the same
            for (const std::string& text : field.usual(ServingRequest{})) {
                ServingRequest same;
                field.put(text, field.flag, same);
                CHECK(field.print(same).empty());
            }
        CHECK(field.flag.starts_with("--"));
        CHECK(find_serving_field(field.key) == &field);
        CHECK(find_serving_field(field.flag) == &field);
        if (field.value == "FILE")
            continue;
        ServingRequest request;
        const std::string text =
            field.key.ends_with("_tokens") && field.kind != FieldKind::whole && field.key != "wait_tokens"
                ? "300"
                : another(field);
        field.parse(text, field.flag, request);
        CHECK(field.print(request) == std::vector{text});
        CHECK_THROWS_WITH(field.put("what?", field.flag, request), Catch::Contains(field.flag));
    }
}

TEST_CASE("fields of a server that cannot be together are refused in the words of who asks",
          "[ask][serving]") {
    const auto refused = [](std::vector<std::pair<const char*, const char*>> given, const char* why) {
        for (const Spelling spelling : {Spelling::flag, Spelling::key}) {
            ServingTexts texts(spelling);
            for (const auto& [key, text] : given)
                texts.give(key, text);
            CHECK_THROWS_WITH(texts.request(),
                              Catch::Contains(why) &&
                                  Catch::Contains(find_serving_field(given[0].first)->spelled(spelling)));
        }
    };
    refused({{"burstiness", "0.5"}, {"rate", "2"}}, "bursty");
    refused({{"arrivals", "constant"}, {"concurrency", "2"}}, "only with");
    refused({{"rate", "2"}, {"concurrency", "2"}}, "excludes");
    refused({{"accepted", "0.5"}}, "only with");
    refused({{"wait_tokens", "0.5"}}, "both or neither");
    refused({{"system_prompts", "4"}}, "both or neither");
    refused({{"length_range", "0.5,1"}}, "uniform");
    refused({{"prompt_devices", "4"}, {"prompt_parallel", "tp=2"}}, "excludes");
    refused({{"reserved_context", "100"}, {"prompt_tokens", "200"}}, "do not hold");
    ServingTexts texts(Spelling::key);
    CHECK_THROWS_WITH(texts.give("max_sequence", "2"), Catch::Contains("max_sequences"));
    texts.give("trace", "/no/such/file");
    CHECK_THROWS_AS(texts.request(), InputError);
    texts.give("prompt_tokens", "2k");
    CHECK(texts.of_servers_alone() == std::vector<std::string>{"trace"});
}

TEST_CASE("Python's stub has every field of a server", "[ask][serving]") {
    std::ifstream stub(ARCHSIM_SOURCE_DIR "/src/python/archsim/__init__.pyi");
    std::stringstream text;
    text << stub.rdbuf();
    for (const ServingField& field : serving_fields()) {
        INFO(field.key);
        CHECK_THAT(text.str(), Catch::Contains("\n    " + field.key + ": "));
    }
}
