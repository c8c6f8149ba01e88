// Runs a tool in this process with arbitrary arguments: it ends with a documented exit status. The first line
// of the input names the tool, every other line is an argument. Arguments that name other folders are not
// tried, so that nothing outside the scratch folder is written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#define TOOL(name) extern "C" int archsim_main_##name(int argc, char** argv);
#include "tools.def"
#undef TOOL

namespace {

constexpr std::array kTools = {
#define TOOL(name) std::pair{std::string_view(#name), &archsim_main_##name},
#include "tools.def"
#undef TOOL
};

/// A scratch folder to write to, and no output of tools between the fuzzer's own.
bool prepare() {
    const std::filesystem::path folder = "/dev/shm/archsim_fuzz_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
    return std::freopen("/dev/null", "w", stdout) != nullptr &&
           std::freopen("/dev/null", "r", stdin) != nullptr;
}

std::vector<std::string> lines(std::string_view text) {
    std::vector<std::string> result;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        result.emplace_back(line.substr(0, line.find('\0')));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return result;
}

/// Work that takes minutes by design: fits that leave out every network in turn, sweeps of a hundred steps
/// and more along an axis.
bool takes_minutes(const std::string& argument) {
    if (argument.starts_with("--save") || argument.starts_with("--uncert"))
        return true;
    std::string_view steps = argument;
    if (const auto at = steps.rfind(':'); at != std::string_view::npos)
        steps.remove_prefix(at + 1);
    if (steps.starts_with("log"))
        steps.remove_prefix(3);
    return argument.find("..") != std::string::npos && steps.size() > 2 && steps.size() < argument.size();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    [[maybe_unused]] static const bool ready = prepare() || (std::abort(), false);
    std::vector<std::string> arguments = lines({reinterpret_cast<const char*>(data), size});
    if (arguments.empty())
        return -1;
    for (const std::string& argument : arguments)
        if (argument.find('/') != std::string::npos || argument.starts_with("..") || takes_minutes(argument))
            return -1;
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    const int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    for (const auto& [name, tool] : kTools)
        if (arguments.front() == name) {
            const int status = tool(argc, argv.data());
            if (status < 0 || status > 3)
                std::abort();
            return 0;
        }
    return -1;
}
