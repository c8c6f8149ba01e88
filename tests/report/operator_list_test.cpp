// The table of operators as a document, and its completeness against the schemas of libonnx.

#include "answers/profile/graph_profile.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

using namespace archsim;
using Catch::Matchers::Contains;

TEST_CASE("every operator of libonnx has a row with its first opset", "[ops][report]") {
    std::map<std::pair<std::string, std::string>, int> first;
    for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
        const auto [entry, is_new] =
            first.try_emplace({schema.domain(), schema.Name()}, schema.since_version());
        if (!is_new)
            entry->second = std::min(entry->second, schema.since_version());
    }
    REQUIRE(first.size() > 190);
    for (const auto& [name, since] : first) {
        INFO(name.first << " " << name.second);
        const OperatorRow* row = OperatorRegistry::standard().find(name.first, name.second);
        REQUIRE(row);
        CHECK(row->since == since);
    }
}

TEST_CASE("operators that came after libonnx's opset 17 have rows too", "[ops][report]") {
    const std::map<std::string, int> since = {{"BitwiseAnd", 18},
                                              {"BitwiseNot", 18},
                                              {"BitwiseOr", 18},
                                              {"BitwiseXor", 18},
                                              {"CenterCropPad", 18},
                                              {"Col2Im", 18},
                                              {"Mish", 18},
                                              {"GroupNormalization", 18},
                                              {"DeformConv", 19},
                                              {"AffineGrid", 20},
                                              {"Gelu", 20},
                                              {"ImageDecoder", 20},
                                              {"RegexFullMatch", 20},
                                              {"StringConcat", 20},
                                              {"StringSplit", 20},
                                              {"Attention", 23},
                                              {"RMSNormalization", 23},
                                              {"RotaryEmbedding", 23},
                                              {"Swish", 24},
                                              {"TensorScatter", 24},
                                              {"BitCast", 26},
                                              {"CumProd", 26},
                                              {"CausalConvWithState", 27},
                                              {"LinearAttention", 27}};
    for (const auto& [name, opset] : since) {
        INFO(name);
        const OperatorRow* row = OperatorRegistry::standard().find("", name);
        REQUIRE(row);
        CHECK(row->since == opset);
    }
}

TEST_CASE("every row says what it is and what it counts", "[ops][report]") {
    std::set<std::pair<std::string_view, std::string_view>> names;
    for (const OperatorRow& row : OperatorRegistry::standard().rows()) {
        INFO(row.domain << " " << row.name);
        CHECK(names.insert({row.domain, row.name}).second);
        CHECK_FALSE(row.doc.empty());
        CHECK(row.doc.find('\n') == std::string_view::npos);
        CHECK(row.since >= 1);
        CHECK(row.since <= kNewestOpset);
    }
}

TEST_CASE("the list of operators renders as a page, a sheet and JSON", "[report]") {
    const OperatorRegistry& operators = OperatorRegistry::standard();
    const std::string page = render(describe(operators), Format::markdown);
    CHECK_THAT(page,
               Contains("## ai.onnx (") && Contains("## com.microsoft (") && Contains("| MatMulNBits |"));
    const std::string sheet = render(operators, Format::csv, PlainView{});
    CHECK(static_cast<std::size_t>(std::count(sheet.begin(), sheet.end(), '\n')) ==
          operators.rows().size() + 1);
    const auto document = nlohmann::json::parse(to_json(operators));
    CHECK(document.at("newest_opset") == kNewestOpset);
    REQUIRE(document.at("operators").size() == operators.rows().size());
    for (const auto& row : document.at("operators"))
        if (row.at("domain") == "ai.onnx" && row.at("name") == "Relu") {
            CHECK(row.at("kind") == "elementwise");
            CHECK(row.at("vector_per_element") == 1);
        }
}
