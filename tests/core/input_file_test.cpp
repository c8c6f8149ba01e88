// One door for files: regular files alone, inside of the folders that may be read.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"
#include "checkpoint/checkpoint.hpp"
#include "core/input_file.hpp"
#include "core/text_file.hpp"
#include "store/results_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace archsim;

class Folder {
  public:
    Folder() : path_(fs::temp_directory_path() / ("archsim-door-" + std::to_string(getpid()))) {
        fs::create_directories(path_ / "inside");
        fs::create_directories(path_ / "outside");
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path inside(const std::string& name) const { return path_ / "inside" / name; }
    fs::path outside(const std::string& name) const { return path_ / "outside" / name; }

  private:
    fs::path path_;
};

/// Every reader of files that somebody names, with a name that it takes.
std::vector<std::pair<std::string, std::function<void(const fs::path&)>>> readers() {
    return {{"text.csv", [](const fs::path& file) { (void)read_text_file(file); }},
            {"model.onnx", [](const fs::path& file) { (void)import_onnx(file); }},
            {"model.tflite", [](const fs::path& file) { (void)import_tflite(file); }},
            {"model.gguf", [](const fs::path& file) { (void)read_checkpoint(file); }},
            {"config.json", [](const fs::path& file) { (void)read_checkpoint(file); }},
            {"results.db", [](const fs::path& file) { (void)saved_runs(file); }},
            {"any", [](const fs::path& file) { InputFile opened(file); }}};
}

} // namespace

TEST_CASE("no reader waits for what is no regular file", "[core][hostile]") {
    const Folder folder;
    for (const auto& [name, read] : readers()) {
        INFO(name);
        const fs::path pipe = folder.inside(name), device = folder.outside(name);
        REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
        fs::create_symlink("/dev/zero", device);
        if (name == "text.csv")
            read(pipe); // which somebody may write to: what there is, and no wait
        else
            CHECK_THROWS_AS(read(pipe), InputError);
        CHECK_THROWS_AS(read(device), InputError);
        CHECK_THROWS_AS(read(folder.inside("")), InputError);
    }
}

TEST_CASE("no reader waits for a file of the kernel that has nothing more", "[core][hostile]") {
    // Regular by its kind: whoever may open it reads what there is, and then nothing comes.
    CHECK_THROWS_AS(read_text_file("/proc/kmsg"), InputError);
}

TEST_CASE("every reader stays inside of the folders that may be read", "[core][hostile]") {
    const Folder folder;
    read_only_inside({folder.inside("")});
    for (const auto& [name, read] : readers()) {
        INFO(name);
        std::ofstream(folder.outside(name)) << "something";
        fs::create_symlink(folder.outside(name), folder.inside(name));
        for (const fs::path& named :
             {folder.outside(name), folder.inside(name), folder.inside("../outside") / name})
            CHECK_THROWS_WITH(read(named), Catch::Contains("lies outside of"));
    }
    // The packed neighbour that stands for a file, too.
    std::ofstream(folder.outside("packed.onnx.gz")) << "\x1f\x8b";
    fs::create_symlink(folder.outside("packed.onnx.gz"), folder.inside("packed.onnx.gz"));
    CHECK_THROWS_WITH(import_onnx(folder.inside("packed.onnx")), Catch::Contains("lies outside of"));
    read_only_inside({});
    CHECK(read_text_file(folder.outside("text.csv")) == "something");
}
