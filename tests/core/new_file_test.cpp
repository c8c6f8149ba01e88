// Files that replace others: as private as they were, under names that nobody knows, and gone when not
// finished.

#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "core/digest.hpp"
#include "core/new_file.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

struct FileFolder {
    fs::path path = fs::temp_directory_path() / ("archsim_files_" + random_name());
    FileFolder() { fs::create_directories(path); }
    ~FileFolder() { fs::remove_all(path); }
    std::set<std::string> names() const {
        std::set<std::string> all;
        for (const auto& entry : fs::directory_iterator(path))
            all.insert(entry.path().filename());
        return all;
    }
};

} // namespace

TEST_CASE("a file keeps its mode, and is never readable for more people", "[core][files]") {
    const FileFolder folder;
    const fs::path file = folder.path / "out.json";
    for (const mode_t mode : {0600, 0640, 0644, 0400}) {
        std::ofstream(file) << "old";
        REQUIRE(chmod(file.c_str(), mode) == 0);
        {
            NewFile made(file, "out.json");
            for (const auto& entry : fs::directory_iterator(folder.path))
                CHECK((*mode_of_file(entry.path()) & ~mode) == 0);
            made.write("new");
            made.put_in_place();
        }
        CHECK(*mode_of_file(file) == mode);
        CHECK(test::read(file) == "new");
        CHECK(folder.names() == std::set<std::string>{"out.json"});
        fs::remove(file);
    }
    const mode_t before = umask(027);
    write_file(file.string(), "x");
    umask(before);
    CHECK(*mode_of_file(file) == 0640);
}

TEST_CASE("temporary names cannot be guessed and lead nowhere else", "[core][files]") {
    const FileFolder folder;
    std::set<std::string> seen;
    for (int i = 0; i < 50; ++i) {
        const NewFile made(folder.path / "out.json", "out.json");
        for (const std::string& name : folder.names())
            CHECK(seen.insert(name).second);
    }
    CHECK(seen.size() == 50);
    CHECK(folder.names().empty()); // what is not put in place goes
    // The old name, prepared by somebody else, is not used.
    std::ofstream(folder.path / "victim") << "kept";
    fs::create_symlink("victim", folder.path / ("out.json.tmp-" + std::to_string(getpid())));
    write_file((folder.path / "out.json").string(), "x");
    CHECK(test::read(folder.path / "victim") == "kept");
    fs::create_symlink("victim", folder.path / "link"); // a link is written through, as before
    write_file((folder.path / "link").string(), "y");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(test::read(folder.path / "victim") == "y");
}

TEST_CASE("unfinished files are removed on demand, finished ones stay", "[core][files]") {
    const FileFolder folder;
    write_file((folder.path / "done").string(), "x");
    {
        const NewFile made(folder.path / "out.json", "out.json");
        fs::create_directory(folder.path / "scratch");
        const Unfinished scratch(folder.path / "scratch"), inside(folder.path / "scratch" / "model");
        std::ofstream(folder.path / "scratch" / "model") << "x";
        remove_unfinished_files();
        CHECK(folder.names() == std::set<std::string>{"done"});
    }
    remove_unfinished_files();
    CHECK(folder.names() == std::set<std::string>{"done"});
    CHECK_THROWS_AS(NewFile(folder.path / "none" / "x", "x"), InputError);
}

TEST_CASE("a digest is of the bytes, however they come, and of every one of them", "[core][digest]") {
    std::string text(1000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 37 + i / 7);
    const auto digest = [](std::string_view data, std::size_t piece) {
        Digest made;
        for (; !data.empty(); data.remove_prefix(std::min(piece, data.size())))
            made.bytes(data.substr(0, piece));
        return made.hex();
    };
    std::set<std::string> seen{digest(text, 1000)};
    for (const std::size_t piece : {1, 3, 7, 8, 9, 64, 999})
        CHECK(digest(text, piece) == *seen.begin());
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string other = text;
            other[i] = static_cast<char>(other[i] ^ 1 << bit);
            CHECK(seen.insert(digest(other, 1000)).second);
        }
        CHECK(
            seen.insert(digest(std::string_view(text).substr(0, i), 1000)).second); // zeros at the end count
    }
    CHECK(digest(std::string(8, '\0'), 8) != digest(std::string(16, '\0'), 8));
}
