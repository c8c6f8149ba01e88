// docs/architecture.md speaks of what there is: every file and every name in it exists.

#include "support/places.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace archsim;

namespace {

namespace fs = std::filesystem;

/// The texts between backticks.
std::vector<std::string> spans_of(const std::string& document) {
    std::vector<std::string> spans;
    std::size_t open = document.find('`');
    while (open != std::string::npos) {
        const std::size_t close = document.find_first_of("`\n", open + 1);
        if (close == std::string::npos)
            break;
        if (document[close] == '`' && close > open + 1)
            spans.push_back(document.substr(open + 1, close - open - 1));
        open = document.find('`', close + 1);
    }
    return spans;
}

/// Whether a file or folder of the repository has that path, in which <words> stand for anything, from its
/// root or from one of the folders of sources.
bool is_there(std::string path, const std::vector<std::string>& files) {
    if (path.ends_with('/'))
        path.pop_back();
    std::string pattern;
    for (const char c : std::regex_replace(path, std::regex("<[a-z]+>"), "\x01"))
        pattern += c == '\x01' ? "[^/]+"
                   : std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_'
                       ? std::string(1, c)
                       : std::string("\\") + c;
    const std::regex wanted("(|src/|include/|include/archsim/|hardware_db/)" + pattern + "(|/.*)");
    for (const std::string& file : files)
        if (std::regex_match(file, wanted))
            return true;
    return false;
}

std::vector<std::string> files_of_the_repository() {
    std::vector<std::string> files;
    for (const char* folder :
         {"src", "include", "cli", "fit", "scripts", "cmake", "hardware_db", "models", "tests", "docs"})
        for (const auto& entry : fs::recursive_directory_iterator(test::kSource / folder))
            if (entry.is_regular_file())
                files.push_back(fs::relative(entry.path(), test::kSource).generic_string());
    return files;
}

/// Every word of the sources, and of the names of files.
std::set<std::string> words_of(const std::vector<std::string>& files) {
    std::set<std::string> words;
    const auto add = [&](const std::string& text) {
        std::string word;
        for (const char c : text + ' ') {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
                word += c;
            } else if (!word.empty()) {
                words.insert(word);
                word.clear();
            }
        }
    };
    for (const std::string& file : files) {
        add(file);
        for (const char* folder : {"src/", "include/", "cli/", "fit/", "scripts/", "cmake/"})
            if (file.starts_with(folder))
                add(test::read(test::kSource / file));
    }
    return words;
}

} // namespace

TEST_CASE("the document of the architecture names what there is", "[cli][documents]") {
    const std::vector<std::string> files = files_of_the_repository();
    const std::set<std::string> words = words_of(files);
    const std::regex path(
        "[A-Za-z_.<>/0-9-]+/[A-Za-z_.<>/0-9-]*|[a-z_<>0-9]+\\.(hpp|cpp|json|def|txt|cmake)"),
        name("[A-Za-z_][A-Za-z_0-9]*(::[A-Za-z_][A-Za-z_0-9]*)*");
    std::size_t paths = 0, names = 0;
    for (const std::string& span : spans_of(test::read(test::kSource / "docs/architecture.md"))) {
        INFO("docs/architecture.md: `" << span << "`");
        if (std::regex_match(span, path) &&
            span.find("MODULE") == std::string::npos) { // which stands for any
            ++paths;
            CHECK(is_there(span, files));
        } else if (std::regex_match(span, name)) {
            ++names;
            for (std::size_t at = 0; at < span.size();) {
                const std::size_t end = std::min(span.find("::", at), span.size());
                INFO(span.substr(at, end - at));
                CHECK(words.contains(span.substr(at, end - at)));
                at = end + 2;
            }
        }
    }
    CHECK(paths > 25);
    CHECK(names > 60);
}
