#pragma once
// A scratch folder in which tests run the tools as users do.

#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace archsim::test {

struct Said {
    std::string output;
    int status = 0;
};

/// A folder of its own with what the examples of the tools name; commands run in it.
class Workplace {
  public:
    Workplace()
        : folder_(std::filesystem::temp_directory_path() / ("archsim-tools-" + std::to_string(getpid()))) {
        const std::filesystem::path source = ARCHSIM_SOURCE_DIR;
        std::filesystem::create_directories(folder_ / "my_models");
        std::filesystem::create_directories(folder_ / "docs");
        // The rows of served requests are simulated for seconds: scripts/docs --check runs the whole folder.
        std::filesystem::create_directories(folder_ / "tests/measured");
        const auto link_all = [&](const char* folder, const char* but) {
            for (const auto& entry : std::filesystem::directory_iterator(source / folder))
                if (const auto name = entry.path().filename(); name != but)
                    std::filesystem::create_symlink(entry.path(), folder_ / folder / name);
        };
        link_all("tests", "measured");
        link_all("tests/measured", "serving.csv");
        std::filesystem::create_symlink(source / "docs/examples", folder_ / "docs/examples");
        std::filesystem::copy_file(source / "models/onnx/mobilenet_v2.onnx",
                                   folder_ / "my_models/mobilenet.onnx");
        std::filesystem::copy_file(source / "models/onnx/mobilenet_v2.onnx", folder_ / "my_model.onnx");
        std::filesystem::copy_file(source / "models/configs/qwen3-0.6b.json", folder_ / "config.json");
        std::filesystem::copy_file(source / "hardware_db/gpu/A100.json", folder_ / "mychip.json");
        std::ifstream rows(source / "tests/measured/calibration.csv");
        std::ofstream board(folder_ / "my_board.csv");
        std::string line;
        for (int i = 0; i < 10 && std::getline(rows, line); ++i) // fits try each of them many times
            board << line << '\n';
    }
    ~Workplace() { std::filesystem::remove_all(folder_); }

    /// A shell's line that runs a command in the folder, with the tools at hand.
    std::string line(const std::string& command) const {
        return "cd '" + folder_.string() +
               "' && export COLUMNS=100 ARCHSIM_DATA_DIR='" ARCHSIM_SOURCE_DIR "' PATH='" ARCHSIM_TOOL_DIR
               "':\"$PATH\" && " +
               command;
    }
    Said run(const std::string& command) const {
        const std::string line = this->line(command);
        Said said;
        std::FILE* pipe = popen(line.c_str(), "r");
        REQUIRE(pipe != nullptr);
        std::array<char, 1 << 14> buffer{};
        while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
            said.output.append(buffer.data(), count);
        const int status = pclose(pipe);
        said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return said;
    }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

} // namespace archsim::test
