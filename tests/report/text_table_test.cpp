#include "report/blocks/columns.hpp"
#include "report/render/renderers.hpp"

#include "archsim/core/finding.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

Table sample() {
    Table table;
    table.columns = {{"Name", "", "name"},
                     {"Within", "10 %", "within_10", Align::right, 2},
                     {"Within", "25 %", "within_25", Align::right, 1},
                     {"Why", "", "why"}};
    table.rows = {
        {{"a"}, {"1", 1.0}, {"5", 5.0}, {"one two three four five six seven eight nine ten eleven"}},
        {{"b"}, {"3", 3.0}, {"-"}, {"short"}}};
    table.notes = {"always", {"of the last", "why"}, {"of ten", "within_10"}};
    return table;
}

std::string drawn(const Table& table, int width) {
    return render(Report{"", {table}}, Format::text,
                  {.width = width, .color = false, .unicode = true, .command = {}, .date = {}});
}

} // namespace

TEST_CASE("a long text breaks before a column goes", "[report][text]") {
    const Table table = sample();
    const auto all = place_columns(table, 100);
    REQUIRE(all.size() == 4);
    CHECK(all[3].width == 55); // as long as its text
    const auto narrow = place_columns(table, 62);
    REQUIRE(narrow.size() == 4);
    CHECK(narrow[3].width == 62 - 4 - 6 - 6 - 3 * 2);
    const auto dropped = place_columns(table, 45);
    REQUIRE(dropped.size() == 2); // 10 % first, then 25 %
    CHECK(dropped[1].index == 3);
    CHECK(left_out_columns(table, dropped) == "(not shown at this width: Within (10 %), Within (25 %))");
    const std::string text = drawn(table, 45);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        CHECK(end - at <= 45);
    }
    CHECK(text.find("eleven") != std::string::npos);
}

TEST_CASE("a note stands where its column is shown", "[report][text]") {
    CHECK(drawn(sample(), 100).find("of ten") != std::string::npos);
    const std::string narrow = drawn(sample(), 45);
    CHECK(narrow.find("of ten") == std::string::npos);
    CHECK(narrow.find("of the last") != std::string::npos);
    CHECK(narrow.find("always") != std::string::npos);
    Table without = sample();
    for (auto& row : without.rows)
        row.pop_back();
    without.columns.pop_back();
    for (const Format format : {Format::markdown, Format::html})
        CHECK(render(Report{"", {without}}, format).find("of the last") == std::string::npos);
}

TEST_CASE("cells break at spaces, then at joints of names, then anywhere", "[report][text]") {
    CHECK(break_cell("one two three", 7) == std::vector<std::string>{"one two", "three"});
    CHECK(break_cell("resnet50-224-b1", 10) == std::vector<std::string>{"resnet50-", "224-b1"});
    CHECK(break_cell("layers.*/self_attn/q_proj", 21) ==
          std::vector<std::string>{"layers.*/self_attn/", "q_proj"});
    CHECK(break_cell("abcdefghij", 4) == std::vector<std::string>{"abcd", "efgh", "ij"});
    CHECK(break_cell("µµµµµ", 4) == std::vector<std::string>{"µµµµ", "µ"}); // characters stay whole
    CHECK(break_cell("  indented", 20) == std::vector<std::string>{"  indented"});
}

TEST_CASE("long commands are continued, quoted words stay whole", "[report][text]") {
    const auto text = [](std::string line) {
        return render(Report{"", {Command{std::move(line)}}}, Format::text,
                      {.width = 40, .color = false, .unicode = true, .command = {}, .date = {}});
    };
    CHECK(text("tool model --flag one two --other three") ==
          "    tool model --flag one two \\\n        --other three\n");
    CHECK(text("tool 'a --b' --flag 12345678901234567890") ==
          "    tool 'a --b' \\\n        --flag 12345678901234567890\n");
    CHECK(text("tool model") == "    tool model\n");
}

TEST_CASE("tables are ordered by a column's name, best first", "[report][order]") {
    const auto names = [](const Report& report) {
        std::string all;
        for (const Block& block : report.blocks)
            if (const Table* table = std::get_if<Table>(&block))
                for (const auto& row : table->rows)
                    all += row[0].text;
        return all;
    };
    Report report{"", {Heading{2, "first"}, sample(), Heading{2, "second"}, sample()}};
    auto& more = std::get<Table>(report.blocks[3]).rows;
    more[0][0] = {"c"};
    more[1] = {{"d"}, {"9", 9.0}, {"7", 7.0}, {"all"}};
    Report by_ten = report;
    order_tables(by_ten, {"within_10", 3});
    CHECK(names(by_ten) == "dba"); // one table of both; of equal values the first comes first
    CHECK(std::get<Table>(by_ten.blocks.front()).notes.back().text == "and 1 more: --top 0 shows all");
    Report by_text = report;
    order_tables(by_text, {"WHY", 0});
    CHECK(names(by_text) == "dacb");
    Report untouched = report;
    order_tables(untouched, {});
    CHECK(untouched.blocks.size() == 4);
    CHECK_THROWS_WITH(order_tables(report, {"speed", 0}), Catch::Contains("Name, Within, Within, Why"));

    Table times;
    times.columns = {{"Device", "", "hardware"},
                     {"Latency", "ms", "latency_s", Align::right, 0, BestIs::least}};
    times.rows = {{{"x"}, {"2", 2.0}}, {{"y"}, {"does_not_fit"}}, {{"z"}, {"1", 1.0}}};
    Report latency{"", {times}};
    order_tables(latency, {"latency", 0});
    CHECK(names(latency) == "zxy"); // the least is best, and what has none comes last
}
