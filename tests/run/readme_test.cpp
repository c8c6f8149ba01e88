// The README prints what its first command prints.

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace {

std::string run(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string output;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()))
        output += buffer.data();
    return output;
}

} // namespace

TEST_CASE("the README's table is what the first command prints", "[readme]") {
    std::ifstream file(std::string(ARCHSIM_SOURCE_DIR) + "/README.md");
    std::stringstream readme;
    readme << file.rdbuf();
    const std::string text = readme.str();
    const auto begin = text.find("Hardware Comparison (Sorted by Latency)");
    REQUIRE(begin != std::string::npos);
    const std::string table = text.substr(begin, text.find("```", begin) - begin);
    const std::string output =
        run(std::string(ARCHSIM_TOOL_DIR) + "/compare_models resnet50 --deployment edge --width 100");
    INFO(output);
    CHECK(output.find(table) != std::string::npos);
}
