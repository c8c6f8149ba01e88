// Nothing that a file holds reaches a terminal unseen.

#include "core/text.hpp"

#include <catch2/catch.hpp>

#include <string>

using archsim::Colours;
using archsim::printable;
using archsim::printable_json;

TEST_CASE("what can be read stays as it is", "[printable]") {
    for (const char* text :
         {"", "conv1/weight", "two\nlines\tand a tab", "\u00b5s \u2265 \u4e2d\u6587 \U0001f600"})
        CHECK(printable(text) == text);
}

TEST_CASE("control characters are shown, not sent", "[printable]") {
    CHECK(printable("a\033[2Jb") == R"(a\x1b[2Jb)");
    CHECK(printable(std::string("nul\0!", 5)) == R"(nul\x00!)");
    CHECK(printable("bell\a, return\r, del\177") == R"(bell\x07, return\x0d, del\x7f)");
    CHECK(printable("\302\2332J") == R"(\x9b2J)");         // CSI in one character
    CHECK(printable("\342\200\256cba") == R"(\u202ecba)"); // right to left
    CHECK(printable("a\u200f1\u061c2") == R"(a\u200f1\u061c2)");
    CHECK(printable("a\u2028::error::") == R"(a\u2028::error::)"); // ends a line of editors and browsers
}

TEST_CASE("bytes that are no UTF-8 are shown", "[printable]") {
    CHECK(printable("\377\376") == R"(\xff\xfe)");
    CHECK(printable("\303") == R"(\xc3)");                           // cut off
    CHECK(printable("\300\257") == R"(\xc0\xaf)");                   // longer than needed
    CHECK(printable("\355\240\200") == R"(\xed\xa0\x80)");           // a surrogate
    CHECK(printable("\365\200\200\200x") == R"(\xf5\x80\x80\x80x)"); // beyond Unicode
}

TEST_CASE("only colours pass where colours are kept", "[printable]") {
    CHECK(printable("\033[32mok\033[0m", Colours::kept) == "\033[32mok\033[0m");
    CHECK(printable("\033[2J\033]0;title\033[", Colours::kept) == R"(\x1b[2J\x1b]0;title\x1b[)");
    CHECK(printable("\033[32mok\033[0m") == R"(\x1b[32mok\x1b[0m)");
}

TEST_CASE("a JSON document keeps its meaning", "[printable]") {
    CHECK(printable_json("{\"a\": \"b\"}\n") == "{\"a\": \"b\"}\n");
    CHECK(printable_json("\"del\177, csi\302\233\"") == R"("del\u007f, csi\u009b")");
}

TEST_CASE("a name is one line, and no more than some pages", "[printable]") {
    using archsim::one_line;
    CHECK(one_line("a\n::error::b\tc\r") == R"(a\x0a::error::b\x09c\x0d)");
    CHECK(one_line("\u4e2d\u6587") == "\u4e2d\u6587");
    const std::string cut = one_line(std::string(1'000'000, 'x'), 1000);
    CHECK(cut.size() < 1100);
    CHECK(cut.find("bytes ...]") != std::string::npos);
    std::string wide;
    for (int i = 0; i < 1000; ++i)
        wide += "\u4e2d"; // cut between characters alone
    CHECK(one_line(wide, 100).find("\\x") == std::string::npos);
}

TEST_CASE("no line is a command of a log", "[printable]") {
    using archsim::without_commands;
    CHECK(without_commands("a::b\n ::error::c\n::d") == "a::b\n \\x3a:error::c\n\\x3a:d");
    CHECK(without_commands("a ##[error]b\n#[x]\n") == "a \\x23#[error]b\n#[x]\n");
    CHECK(without_commands("") == "");
    CHECK(without_commands("\n") == "\n");
}
