// Words that users see: what was replaced once does not come back.

#include "support/places.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace archsim;

namespace {

namespace fs = std::filesystem;

/// Every string of a source file, adjacent literals joined as the compiler joins them.
std::vector<std::string> strings_of(const std::string& text) {
    std::vector<std::string> all;
    bool joins = false; // nothing but space stands between the last literal and here
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
            i = std::min(text.find('\n', i), text.size());
        } else if (c == '\'' && i + 2 < text.size() && (text[i + 1] == '\\' || text[i + 2] == '\'')) {
            i = std::min(text.find('\'', i + (text[i + 1] == '\\' ? 3 : 1)), text.size());
            joins = false;
        } else if (c == '"') {
            const bool raw = i > 0 && text[i - 1] == 'R';
            std::string literal;
            if (raw) {
                const std::size_t open = text.find('(', i);
                const std::string close = ")" + text.substr(i + 1, open - i - 1) + "\"";
                const std::size_t end = text.find(close, open);
                literal = text.substr(open + 1, end - open - 1);
                i = end + close.size() - 1;
            } else {
                for (++i; i < text.size() && text[i] != '"'; ++i) {
                    if (text[i] == '\\')
                        ++i;
                    literal += text[i];
                }
            }
            if (joins && !raw)
                all.back() += literal;
            else
                all.push_back(literal);
            joins = true;
        } else if (c != ' ' && c != '\n') {
            joins = false;
        }
    }
    return all;
}

struct RetiredPhrase {
    std::string old_words, new_words;
};

std::vector<RetiredPhrase> retired_phrases() {
    std::istringstream lines(test::read(test::kSource / "tests/cli/retired_phrases.txt"));
    std::vector<RetiredPhrase> phrases;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find(" -> ");
        if (!line.starts_with("#") && arrow != std::string::npos)
            phrases.push_back({line.substr(0, arrow), line.substr(arrow + 4)});
    }
    return phrases;
}

} // namespace

TEST_CASE("strings of a source are read as the compiler reads them", "[cli][phrases]") {
    const std::string source = "f(\"one \"\n   \"two\", 'x', '\\'', \"a \\\" b\"); // \"no\"\n";
    CHECK(strings_of(source) == std::vector<std::string>{"one two", "a \" b"});
}

TEST_CASE("no message uses a retired phrase", "[cli][phrases]") {
    const auto phrases = retired_phrases();
    REQUIRE(phrases.size() > 20);
    std::size_t strings = 0;
    for (const char* folder :
         {"cli", "src/report", "src/run", "src/compare", "src/store", "src/map", "src/web"})
        for (const auto& entry : fs::recursive_directory_iterator(test::kSource / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp")
                continue;
            for (const std::string& text : strings_of(test::read(entry.path()))) {
                ++strings;
                for (const RetiredPhrase& phrase : phrases)
                    if (text.find(phrase.old_words) != std::string::npos)
                        FAIL_CHECK(entry.path().string() << ": \"" << text << "\": \"" << phrase.old_words
                                                         << "\" is retired; say: " << phrase.new_words);
            }
        }
    for (const auto& entry : fs::directory_iterator(test::kSource / "docs/schemas"))
        for (const RetiredPhrase& phrase : phrases)
            if (test::read(entry.path()).find(phrase.old_words) != std::string::npos)
                FAIL_CHECK(entry.path().string()
                           << ": \"" << phrase.old_words << "\" is retired; say: " << phrase.new_words);
    CHECK(strings > 3000);
}
