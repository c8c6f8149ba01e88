// Whatever a name holds, every format of a report shows it as text.

#include "answers/budget/budget.hpp"
#include "archsim/extend/renderer.hpp"
#include "core/new_file.hpp"
#include "report/blocks/number_format.hpp"
#include "report/render/renderers.hpp"
#include "support/lines.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace archsim;
using test::lines_of;

namespace {

/// Names that mean something to a terminal, a spreadsheet, a Markdown renderer, a browser or an XML parser.
const std::vector<std::string> kHostile = {
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "\t=1+1",
    "\uff1d1+1",
    "=HYPERLINK(\"http://evil.example\";\"x\")",
    "# heading",
    "x\n# heading",
    "x\n\n## heading",
    "x\n===",
    "- list",
    "1. list",
    "> quotation",
    "```",
    "x\n```\n# heading",
    "[link](http://evil.example)",
    "![picture](http://evil.example/p.png)",
    "[ref]: http://evil.example",
    "<img src=x onerror=alert(1)>",
    "<http://evil.example>",
    "http://evil.example",
    "www.evil.example",
    "a@evil.example",
    "@somebody",
    "&lt;script&gt;",
    "| a | b |",
    "a\n|---|---|\n| x | y |",
    "a\\|b|c",
    "`code`",
    "*bold* _it_ ~~out~~ $x$",
    "    code",
    "\033[31mred\033[0m",
    "\033[2J\033]0;title\007",
    "\302\233\062J",
    "\377\300\257",
    std::string("nul\0!", 5),
    "\u202e\ufffe\uffff",
    "]]>--><!--",
    "\"'&<>",
};

/// A report with a name wherever a report can hold one.
Report report_with(const std::string& name) {
    Report report{name, {}};
    Table table;
    table.title = name;
    table.columns = {{name, name, "key"}, {"Second", "", "second"}};
    table.rows = {{{name}, {"next"}}};
    table.notes.emplace_back(name);
    report.blocks = {Heading{1, name},
                     Paragraph{name},
                     Facts{{{name, name}}},
                     table,
                     Bullets{{name}},
                     Command{name},
                     Takeaway{{name, name}},
                     Chart{.kind = ChartKind::bar,
                           .title = name,
                           .x_title = name,
                           .y_title = "y",
                           .series = {{.name = name, .points = {{.label = name, .x = 1, .y = 2}}}}}};
    return report;
}

} // namespace

TEST_CASE("a spreadsheet takes no name for a formula, and numbers stay numbers", "[report][hostile]") {
    for (const std::string& name : kHostile) {
        INFO(name);
        std::string field = csv_field(name);
        if (field.starts_with('"'))
            field = field.substr(1);
        CHECK(std::string_view("=@+-\t\n").find(field.front()) == std::string_view::npos);
        CHECK_FALSE(field.starts_with("\uff1d"));
    }
    for (const char* plain : {"-", "", "-1.5", "+2", "1e-5", "-1.5e-05", "-3.4 % better", "+12 ms", "-5 %",
                              "+0.5 µs", "resnet50", "conv1/weight", "a=b", "x@y"})
        CHECK(csv_field(plain) == plain);
    CHECK(csv_field("-x") == "'-x");
    CHECK(csv_field("+x") == "'+x");
    CHECK(csv_field("--flag") == "'--flag");
    CHECK(csv_field("=1,2") == "\"'=1,2\"");
}

TEST_CASE("names in Markdown are text", "[report][hostile]") {
    // How many lines a report has, and how many of them are headings, does not depend on its names; a command
    // keeps its lines, inside of a fence.
    const auto lines = [](const std::string& name, bool headings) {
        const auto all = lines_of(render(report_with(name), Format::markdown));
        return std::count_if(all.begin(), all.end(), [&](const std::string& line) {
            return headings ? line.starts_with("#") : !line.empty();
        });
    };
    for (const std::string& name : kHostile)
        if (name.find('\n') == std::string::npos) {
            INFO(name);
            CHECK(lines(name, true) == lines("name", true) + (name.starts_with("#") ? 1 : 0)); // the command
            CHECK(lines(name, false) == lines("name", false));
        }
    for (const std::string& name : kHostile) {
        INFO(name);
        const std::string line = markdown_line(name);
        CHECK(line.find('\n') == std::string::npos);
        // Every character that could mark something stands behind a backslash.
        for (std::size_t i = 0; i < line.size(); ++i)
            if (std::string_view("`*_[]<|~$").find(line[i]) != std::string_view::npos) {
                std::size_t before = i;
                while (before > 0 && line[before - 1] == '\\')
                    --before;
                CHECK((i - before) % 2 == 1);
            }
        CHECK(std::string_view("#>").find(line.front()) == std::string_view::npos);
        CHECK_FALSE(line.starts_with("- "));
        CHECK_FALSE(line.starts_with("1. "));
        CHECK(line.find("http://") == std::string::npos);
        CHECK(line.find("www.") == std::string::npos);
        CHECK(line.find("@evil.") == std::string::npos);
        CHECK(line.find("@some") == std::string::npos);
    }
    CHECK(markdown_line("1.45x slower, 30 % at KPU-T64@6W (a-b)") ==
          "1.45x slower, 30 % at KPU-T64@6W (a-b)");
    CHECK(markdown_fence("a ``` b") == "````");
}

TEST_CASE("a picture beside a report in Markdown stays one", "[report][hostile]") {
    const Report report{"", {Chart{.title = "A [chart]", .x_title = "a b.svg"}}};
    CHECK(render(report, Format::markdown) == "![A \\[chart\\]](<a b.svg>)\n\n");
}

TEST_CASE("a terminal gets the colours of the report and no others", "[report][hostile]") {
    for (const std::string& name : kHostile)
        for (const bool color : {false, true}) {
            INFO(name);
            const std::string text = render(report_with(name), Format::text, {.color = color});
            for (std::size_t at = text.find('\033'); at != std::string::npos;
                 at = text.find('\033', at + 1)) {
                const std::string code = text.substr(at, 5);
                CHECK((color && (code.starts_with("\033[0m") || code.starts_with("\033[1m") ||
                                 code.starts_with("\033[2m"))));
            }
            for (const char c : text)
                CHECK((c == '\n' || c == '\t' || c == '\033' || static_cast<unsigned char>(c) >= 0x20));
        }
}

TEST_CASE("a page has no markup but its own", "[report][hostile]") {
    const auto count = [](const std::string& text, std::string_view part) {
        std::size_t found = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
            ++found;
        return found;
    };
    const std::string plain = render(report_with("name"), Format::html);
    for (const std::string& name : kHostile) {
        INFO(name);
        const std::string page = render(report_with(name), Format::html);
        for (const char* tag : {"<img", "<a ", "<script", "<h1", "<h2", "<!--", "onerror=alert"})
            if (name.find("onerror") == std::string::npos || std::string_view(tag) != "onerror=alert")
                CHECK(count(page, tag) == count(plain, tag));
        CHECK(page.find('\033') == std::string::npos);
    }
}

TEST_CASE("JUnit is well-formed for every name", "[report][hostile]") {
    BudgetAnswer answer;
    for (const std::string& name : kHostile) {
        BudgetedEstimate estimate;
        auto facts = std::make_shared<ModelFacts>();
        facts->name = name;
        estimate.result.model = facts;
        estimate.result.hardware = name;
        estimate.result.estimate.reason = name;
        BudgetOutcome outcome;
        outcome.rule.text = name;
        outcome.rule.metric = &metric::latency;
        estimate.outcomes = {outcome};
        answer.estimates.push_back(estimate);
    }
    const std::string document = to_junit(answer);
    for (const char c : document)
        CHECK((c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20));
    CHECK(document.find("\ufffe") == std::string::npos);
    CHECK(document.find("\uffff") == std::string::npos);
    CHECK(document.find("<img") == std::string::npos);
    const auto folder =
        std::filesystem::temp_directory_path() / ("archsim_junit_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    write_file((folder / "out.xml").string(), document);
    CHECK(std::system(
              ("python3 -c \"import xml.dom.minidom as x; x.parse('" + (folder / "out.xml").string() + "')\"")
                  .c_str()) == 0);
    std::filesystem::remove_all(folder);
}
