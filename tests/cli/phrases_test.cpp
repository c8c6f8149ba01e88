// Words that users see: what was replaced once does not come back.

#include "support/places.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
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

/// The words of a list, one or several a line; lines that begin with # say what it is.
std::set<std::string> words_of(const char* file) {
    std::istringstream lines(test::read(test::kSource / file));
    std::set<std::string> words;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream each(line.starts_with("#") ? std::string() : line);
        for (std::string word; each >> word;)
            words.insert(word);
    }
    return words;
}

/// Its words in small letters, without what stands around them.
std::vector<std::string> plain_words(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text)
        if (std::isalpha(static_cast<unsigned char>(c)))
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!words.back().empty())
            words.emplace_back();
    if (words.back().empty())
        words.pop_back();
    return words;
}

/// "Prices are those of 2026.": begins and ends as a sentence, has five words, and is not "label: what it
/// labels".
bool is_sentence(const std::string& text) {
    return text.size() > 2 && std::isupper(static_cast<unsigned char>(text[0])) &&
           std::islower(static_cast<unsigned char>(text[1])) && text.ends_with('.') &&
           text.find(':') == std::string::npos && std::count(text.begin(), text.end(), ' ') >= 4;
}

bool has_verb(const std::string& text, const std::set<std::string>& verbs) {
    const auto words = plain_words(text);
    return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return verbs.contains(w); });
}

} // namespace

TEST_CASE("what is printed as a sentence has a verb", "[cli][phrases]") {
    const auto verbs = words_of("tests/cli/verbs.txt");
    CHECK(is_sentence("Prices are those of 2026."));
    CHECK_FALSE(is_sentence("Owned: price and its part of a server over 3 years."));
    CHECK_FALSE(has_verb("The first 3 of 20 rows.", verbs));
    std::size_t sentences = 0;
    for (const char* folder : {"cli", "src/answers", "src/measurements", "src/report", "src/result",
                               "src/session", "src/store", "src/map", "src/web"})
        for (const auto& entry : fs::recursive_directory_iterator(test::kSource / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp")
                continue;
            for (const std::string& text : strings_of(test::read(entry.path())))
                if (is_sentence(text)) {
                    ++sentences;
                    if (!has_verb(text, verbs))
                        FAIL_CHECK(entry.path().string() << ": \"" << text << "\" has no verb of "
                                                         << "tests/cli/verbs.txt");
                }
        }
    CHECK(sentences > 30);
}

TEST_CASE("strings of a source are read as the compiler reads them", "[cli][phrases]") {
    const std::string source = "f(\"one \"\n   \"two\", 'x', '\\'', \"a \\\" b\"); // \"no\"\n";
    CHECK(strings_of(source) == std::vector<std::string>{"one two", "a \" b"});
}

TEST_CASE("no message uses a retired phrase", "[cli][phrases]") {
    const auto phrases = retired_phrases();
    REQUIRE(phrases.size() > 20);
    std::size_t strings = 0;
    for (const char* folder :
         {"cli", "src/answers", "src/report", "src/result", "src/session", "src/store", "src/map", "src/web"})
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
    CHECK(strings > 3000);
}

TEST_CASE("the changes of a release can be read in one go", "[cli][phrases]") {
    std::istringstream lines(test::read(test::kSource / "CHANGELOG.md"));
    constexpr std::size_t kMost = 150, kWide = 150;
    std::size_t count = 0;
    std::string release;
    for (std::string line; std::getline(lines, line);) {
        INFO(release << ": " << line);
        if (line.starts_with("## ")) {
            release = line;
            count = 0;
        }
        CHECK(++count <= kMost);
        CHECK(line.size() <= kWide);
    }
    CHECK_FALSE(release.empty());
}
