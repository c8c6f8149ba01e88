// What parsers of JSON are not asked: too deep, too many, too many keys for those that look through all.

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;

namespace {

std::string nested(int levels, const std::string& open = "[", const std::string& close = "]") {
    std::string text;
    for (int i = 0; i < levels; ++i)
        text += open;
    for (int i = 0; i < levels; ++i)
        text += close;
    return text;
}

std::string object_of(int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i)
        text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
    return text + "}";
}

} // namespace

TEST_CASE("JSON is refused one level too deep", "[core][hostile]") {
    CHECK(json_excess(nested(kMostJsonLevels)).empty());
    CHECK_THAT(json_excess(nested(kMostJsonLevels + 1)), Catch::Contains("more than 64 levels"));
    CHECK_THAT(json_excess(nested(50'000, "{\"a\":", "}")), Catch::Contains("more than 64 levels"));
    CHECK(json_excess("\"" + nested(1000) + "\\\"" + nested(1000) + "\"").empty()); // a text
    CHECK(json_excess("// " + nested(1000) + "\n/* \"" + nested(1000) + "*/ {}").empty());
    CHECK_FALSE(json_excess("/* \" */" + nested(1000)).empty()); // a quote in a comment opens nothing
    for (const char* cut : {"\"", "\"\\", "/", "/*", "//", "{", "]]]]"})
        CHECK(json_excess(cut).empty());
    CHECK_THROWS_WITH(bounded_json(nested(1000), "some.json"),
                      Catch::Contains("some.json: has more than 64"));
}

TEST_CASE("JSON is refused that takes more memory or time than any", "[core][hostile]") {
    CHECK(json_excess(object_of(100'000)).empty());
    CHECK_FALSE(json_excess(object_of(100'000), JsonKeys::as_written).empty());
    CHECK(json_excess(object_of(5'000), JsonKeys::as_written).empty());
    CHECK_FALSE(json_excess("[" + std::string(25'000'000, ',') + "]").empty());
}
